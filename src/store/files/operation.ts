import type { Caller } from '../../vfs/index.ts'
import type { BlobRef } from '../tree/records.ts'

/** Content whose bytes are in the store: small ones in here (base64), larger ones as chunks of blobs. */
export interface StoredContent {
  readonly size: number
  readonly inline?: string
  readonly chunks?: readonly BlobRef[]
}

/** A mutation with everything it needs to be applied again on the same tree, with the same result. */
export type FileOperation =
  | {
      readonly op: 'write'
      readonly path: string
      readonly content: StoredContent
      readonly parents: boolean
      readonly mode?: number
    }
  /** Keeps the first chunks of a file and puts others behind them. */
  | {
      readonly op: 'extend'
      readonly path: string
      readonly size: number
      readonly kept: number
      readonly chunks: readonly BlobRef[]
    }
  | { readonly op: 'mkdir'; readonly path: string; readonly parents: boolean; readonly mode?: number }
  | { readonly op: 'remove'; readonly path: string; readonly recursive: boolean }
  | { readonly op: 'rename'; readonly path: string; readonly to: string; readonly overwrite: boolean }
  | { readonly op: 'symlink'; readonly path: string; readonly target: string }
  /** Several at once, all or none: what a merge does. */
  | {
      readonly op: 'merge'
      readonly path: string
      readonly from: string
      readonly operations: readonly FileOperation[]
    }
  /** Becomes an earlier tree: what a restore does. */
  | { readonly op: 'restore'; readonly path: string; readonly root: number }

/** One row of the journal: who did what, when. */
export interface JournalEntry {
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly caller?: Caller
  readonly operation: FileOperation
}
