import type { Provenance } from '../../store/index.ts'
import type { CallContext } from '../../vfs/index.ts'

/** Returns the caller and trace for the journal. */
export function toProvenance(ctx: CallContext | undefined): Provenance {
  const { caller, trace } = ctx ?? {}
  return { ...(caller !== undefined && { caller }), ...(trace !== undefined && { trace }) }
}
