import type { CallContext } from '../../../vfs/index.ts'
import type { TransferProgress } from './progress.ts'

export interface ImportOptions extends CallContext {
  /** Leave out what the `.gitignore` files of the directory say, and `.git`. */
  readonly gitignore?: boolean
  /** Patterns as in a `.gitignore` of the directory; what they match is left out whatever other rules say. */
  readonly exclude?: readonly string[]
  /** Where in the vault; made if missing. `/` when absent. */
  readonly into?: string
  /** Called every few hundred files and every megabyte of a large one. */
  readonly onProgress?: (progress: TransferProgress) => void
}

export interface ImportReport {
  readonly files: number
  readonly directories: number
  readonly links: number
  /** Of content, written. */
  readonly bytes: number
  /** Files and links that were there already, as they are. */
  readonly unchanged: number
  /** Entries left out because of a rule; what lies below a directory is not counted. */
  readonly ignored: number
  /** What could not be taken over, by its path below the directory, and why. */
  readonly skipped: readonly Skipped[]
}

export interface Skipped {
  readonly path: string
  readonly reason: string
}
