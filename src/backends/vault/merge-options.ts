import type { ConflictOptions, Provenance } from '../../store/index.ts'

/** Options of `merge`. */
export interface MergeOptions extends Provenance, Partial<ConflictOptions> {
  /** Changes nothing, and returns what would change. */
  readonly isTrial?: boolean
  /** Keeps the states before and after, so that `undoMerge` can undo it. */
  readonly isUndoable?: boolean
}
