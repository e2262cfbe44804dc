import type { Provenance } from '../../store/index.ts'
import type { CallContext } from '../../vfs/index.ts'

/** Most operations have no caller: they share one object. */
const NO_PROVENANCE: Provenance = Object.freeze({})

/** Returns the caller and trace for the journal. */
export function toProvenance(ctx: CallContext | undefined): Provenance {
  if (ctx === undefined || (ctx.caller === undefined && ctx.trace === undefined)) return NO_PROVENANCE
  const { caller, trace } = ctx
  return { ...(caller !== undefined && { caller }), ...(trace !== undefined && { trace }) }
}
