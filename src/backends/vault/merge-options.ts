import type { OnConflict, Provenance } from '../../store/index.ts'

/** Options of `merge`. */
export interface MergeOptions extends Provenance {
  /** Throw (`fail`, the default), keep one side, or write both between markers in text files. */
  readonly onConflict?: OnConflict
}
