import type { CallContext, FileType } from '../../../../vfs/index.ts'
import type { CheckpointInfo } from '../../checkpoint-info.ts'
import type { TransferProgress } from '../progress.ts'

/** A change to a path in one step of a history. Removals precede additions at the same path. */
export type HistoryChange =
  | { readonly kind: 'remove'; readonly path: string }
  | {
      readonly kind: 'file'
      readonly path: string
      readonly mode: number
      readonly content: Uint8Array | AsyncIterable<Uint8Array>
    }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string }
  | { readonly kind: 'directory'; readonly path: string }

/** A state to import as a checkpoint, given by its changes since an earlier one. */
export interface HistoryStep extends Required<Pick<CheckpointInfo, 'name' | 'description' | 'meta'>> {
  /** The checkpoint that its changes are based on; undefined for an empty tree. */
  readonly base: string | undefined
  /** The modification time of its files. */
  readonly time: Date
  /** The trace for the journal. */
  readonly trace: string
  changes(): AsyncIterable<HistoryChange>
}

/** A history to import into a vault. */
export interface IncomingHistory {
  /** The checkpoint that it continues; undefined for an empty vault. */
  readonly after: string | undefined
  readonly steps: AsyncIterable<HistoryStep>
  /** The prefix of every trace, by which the rows of a killed import are recognised and rolled back. */
  readonly tracePrefix: string
}

/** Options of `importHistory`. */
export interface HistoryOptions extends CallContext {
  /** Called after every step, and every few hundred files of a large one; counts steps. */
  readonly onProgress?: (progress: TransferProgress) => void
}

/** A checkpoint of an exported history. */
export interface ExportedStep extends CheckpointInfo {
  /** A unique id. Names may repeat, because a fork may reuse names of its base. */
  readonly id: string
  /** Yields the changes since the checkpoint with this id, or the whole tree without one. */
  changesSince(base: string | undefined): AsyncIterable<ExportedChange>
  /** Returns the type of a path, or undefined if it is missing. */
  findType(path: string): Promise<FileType | undefined>
}

/** A change in an exported history. Empty directories are omitted. */
export type ExportedChange =
  | { readonly kind: 'remove'; readonly path: string }
  | {
      readonly kind: 'file'
      readonly path: string
      readonly mode: number
      readonly size: number
      content(): AsyncIterable<Uint8Array>
    }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string }
  /** A device, socket or pipe. */
  | { readonly kind: 'other'; readonly path: string }
