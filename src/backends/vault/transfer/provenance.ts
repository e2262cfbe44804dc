import type { Provenance } from '../../../store/index.ts'
import type { CallContext } from '../../../vfs/index.ts'

/** What the journal records of a call. */
export function provenanceOf({ caller, trace }: CallContext): Provenance {
  return { ...(caller !== undefined && { caller }), ...(trace !== undefined && { trace }) }
}
