import type { CallContext, FileType } from '../../../../vfs/index.ts'
import type { CheckpointInfo } from '../../vault.ts'
import type { TransferProgress } from '../progress.ts'

/** What one step of a history does to a path. Whatever is removed comes before whatever is put in its place. */
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

/** A state of a tree on its way into a vault, as what changed since an earlier one: it becomes a checkpoint. */
export interface HistoryStep extends Required<Pick<CheckpointInfo, 'name' | 'description' | 'meta'>> {
  /** The checkpoint its changes are counted from; undefined for an empty tree. */
  readonly base: string | undefined
  /** The modification time of what it puts. */
  readonly time: Date
  /** What the journal says it was done for. */
  readonly trace: string
  changes(): AsyncIterable<HistoryChange>
}

/** A history on its way into a vault. */
export interface IncomingHistory {
  /** The checkpoint it goes on from; undefined for an empty vault. */
  readonly after: string | undefined
  readonly steps: AsyncIterable<HistoryStep>
  /** How every trace of such a history begins: what an import that was killed has left is taken back by it. */
  readonly tracePrefix: string
}

export interface HistoryOptions extends CallContext {
  /** Called after every step, and every few hundred files of a large one; counts steps. */
  readonly onProgress?: (progress: TransferProgress) => void
}

/** A checkpoint of a vault on its way out. */
export interface ExportedStep extends CheckpointInfo {
  /** Unlike its name the same for no other: a fork may have checkpoints called like those of its base. */
  readonly id: string
  /** Yields the changes since the checkpoint with another id of this history; everything there is, without one. */
  changesSince(base: string | undefined): AsyncIterable<ExportedChange>
  /** What is at a path; undefined if there is nothing. */
  findType(path: string): Promise<FileType | undefined>
}

/** As `HistoryChange`. An empty directory is no change. */
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
