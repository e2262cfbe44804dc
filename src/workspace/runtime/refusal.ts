import { VfsError } from '../../vfs/index.ts'
import type { ExecutionDecision } from '../policy/index.ts'

/** A request that was not carried out. `approval` is the id under which it can be approved, if it can. EACCES. */
export class Refusal extends VfsError {
  readonly decision: ExecutionDecision
  readonly approval: string | undefined

  constructor(path: string, decision: ExecutionDecision, approval?: string) {
    const why = decision.reason ?? `the command is ${decision.categories.join(', ')}`
    const next = approval === undefined ? '' : `; to let it run once: coppice approve ${approval}`
    super('EACCES', path, { op: 'exec', detail: `${why}${next}` })
    this.decision = decision
    this.approval = approval
  }
}
