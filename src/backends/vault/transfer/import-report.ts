import type { CallContext } from '../../../vfs/index.ts'
import type { TransferProgress } from './progress.ts'

/** Options of `import`. */
export interface ImportOptions extends CallContext {
  /** Skip the paths that the `.gitignore` files of the directory match, and `.git`. */
  readonly gitignore?: boolean
  /** Patterns as in a `.gitignore` of the directory. Matching paths are always skipped. */
  readonly exclude?: readonly string[]
  /** The target directory in the vault, created if it is missing. `/` when absent. */
  readonly into?: string
  /** Called every few hundred files and every megabyte of a large one. */
  readonly onProgress?: (progress: TransferProgress) => void
}

/** Result of `import`. */
export interface ImportReport {
  readonly files: number
  readonly directories: number
  readonly links: number
  /** Bytes of content written. */
  readonly bytes: number
  /** Files and links that the vault already had unchanged. */
  readonly unchanged: number
  /** Entries skipped by a rule, without those below a skipped directory. */
  readonly ignored: number
  /** Entries that could not be imported, with their relative path and the reason. */
  readonly skipped: readonly Skipped[]
}

/** A path that was not transferred, with the reason. */
export interface Skipped {
  readonly path: string
  readonly reason: string
}
