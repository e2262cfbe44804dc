import type { MergeOptions } from './merge-options.ts'

/** A vault of a home in a database as it was at one moment, on this machine, for work that needs local files. */
export interface MachineCopy extends AsyncDisposable {
  /** The vault with the copy, on this machine. */
  readonly vault: string
  /** Moves a fork of the copy to the database, where it becomes a fork of the vault. EEXIST. */
  publishFork(fork: string): Promise<void>
  /** Merges what was changed in the copy into the vault. In a conflict the copy wins. */
  merge(by?: Pick<MergeOptions, 'caller' | 'trace'>): Promise<void>
}
