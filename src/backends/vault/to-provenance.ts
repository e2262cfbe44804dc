import type { Provenance } from '../../store/index.ts'
import type { CallContext } from '../../vfs/index.ts'

/** Who asks, as the journal keeps it. */
export function toProvenance(ctx: CallContext | undefined): Provenance {
  const { caller, trace } = ctx ?? {}
  return { ...(caller !== undefined && { caller }), ...(trace !== undefined && { trace }) }
}
