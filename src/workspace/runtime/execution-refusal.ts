import { VfsError } from '../../vfs/index.ts'
import type { ExecutionDecision } from '../policy/index.ts'

/**
 * Answer of a person: yes, no, a no to the person's own command, dismissed, no answer in time, or the question was too
 * long to show in full.
 */
export type ApprovalAnswer = 'yes' | 'no' | 'declined' | 'dismissed' | 'unanswered' | 'too_long'

/** Answers other than yes. */
export type NegativeAnswer = Exclude<ApprovalAnswer, 'yes'>

/** Texts for the caller. Only a no of either kind is final. */
const ANSWER_TEXTS: Readonly<Record<NegativeAnswer, string>> = {
  no: 'a person denied it; do not ask for the same again',
  declined: 'you declined it',
  dismissed: 'a person dismissed the question without an answer',
  unanswered: 'nobody answered the question in time',
  too_long: 'the command is too long to show in full, so nobody was asked',
}

/** Details of a refused request. */
interface RefusalDetails {
  readonly approval?: string | undefined
  readonly answer?: NegativeAnswer | undefined
}

/** The EACCES error of a refused request. `approval` is the id for approving it, if that is possible. */
export class ExecutionRefusal extends VfsError {
  readonly decision: ExecutionDecision
  readonly approval: string | undefined
  /** Answer of a person; undefined if no person could be asked. */
  readonly answer: NegativeAnswer | undefined

  constructor(path: string, decision: ExecutionDecision, { approval, answer }: RefusalDetails = {}) {
    const why = decision.reason ?? `the command is ${decision.categories.join(', ')}`
    const answerTexts = answer === undefined ? [] : [ANSWER_TEXTS[answer]]
    const next =
      approval === undefined ? [] : [`a person can let it run once with: coppice approve ${approval}`]
    super('EACCES', path, { op: 'exec', detail: [why, ...answerTexts, ...next].join('; ') })
    this.decision = decision
    this.approval = approval
    this.answer = answer
  }
}
