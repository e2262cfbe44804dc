import type { OnConflict, Provenance } from '../../store/index.ts'

export interface MergeOptions extends Provenance {
  /** Refuse (`fail`, when absent), keep one side, or put both between markers in text files. */
  readonly onConflict?: OnConflict
}
