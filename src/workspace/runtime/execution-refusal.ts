import { VfsError } from '../../vfs/index.ts'
import type { ExecutionDecision } from '../policy/index.ts'

/**
 * What came of asking a person: a yes, a no, that they turned away from the question, nothing in time, or that the
 * question is too long to be shown whole.
 */
export type ApprovalAnswer = 'yes' | 'no' | 'dismissed' | 'unanswered' | 'too_long'

/** Answers other than yes. */
export type NegativeAnswer = Exclude<ApprovalAnswer, 'yes'>

/** For whoever wanted it to run: only a no is the end of it. */
const ANSWER_TEXTS: Readonly<Record<NegativeAnswer, string>> = {
  no: 'a person was asked and said no, so asking for the same again is of no use',
  dismissed: 'a person was asked and turned away without an answer',
  unanswered: 'a person was to be asked and nobody answered',
  too_long: 'it is too long for a question, and a person has to see all of it',
}

/** Details of a refused request. */
interface RefusalDetails {
  readonly approval?: string | undefined
  readonly answer?: NegativeAnswer | undefined
}

/** A request that was not carried out. `approval` is the id under which it can be approved, if it can. EACCES. */
export class ExecutionRefusal extends VfsError {
  readonly decision: ExecutionDecision
  readonly approval: string | undefined
  /** Answer of a person; undefined if no person could be asked. */
  readonly answer: NegativeAnswer | undefined

  constructor(path: string, decision: ExecutionDecision, { approval, answer }: RefusalDetails = {}) {
    const why = decision.reason ?? `the command is ${decision.categories.join(', ')}`
    const said = answer === undefined ? [] : [ANSWER_TEXTS[answer]]
    const next = approval === undefined ? [] : [`to let it run once: coppice approve ${approval}`]
    super('EACCES', path, { op: 'exec', detail: [why, ...said, ...next].join('; ') })
    this.decision = decision
    this.approval = approval
    this.answer = answer
  }
}
