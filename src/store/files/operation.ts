import type { Caller, FileType } from '../../vfs/index.ts'
import type { BlobRef, Timestamp } from '../tree/tree-values.ts'

/** Content in the store: small content inline (base64), larger content as chunks. */
export interface StoredContent {
  readonly size: number
  readonly inline?: string
  readonly chunks?: readonly BlobRef[]
}

/** An operation by path, with everything needed to replay it with the same result. */
export type PathOperation =
  | {
      readonly op: 'write'
      readonly path: string
      readonly content: StoredContent
      readonly parents: boolean
      readonly mode?: number
      readonly mtime?: Timestamp
    }
  /** Keeps the first chunks of a file and appends others. */
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
  /** Adds and removes tags of a file. */
  | {
      readonly op: 'tag'
      readonly path: string
      readonly add: readonly string[]
      readonly remove: readonly string[]
    }
  /** Sets a file's metadata: null removes a key. */
  | { readonly op: 'meta'; readonly path: string; readonly values: Readonly<Record<string, string | null>> }
  /** Restores an earlier version of a file. */
  | {
      readonly op: 'revert'
      readonly path: string
      readonly version: number
      readonly content: StoredContent
    }
  /** A merge, applied atomically. `root` is the merged tree of the vault `source`. */
  | {
      readonly op: 'merge'
      readonly path: string
      readonly from: string
      readonly source: number
      readonly root: number
      /** Last row of the source's tree; absent in rows of earlier versions. */
      readonly seq?: number
      readonly operations: readonly FileOperation[]
    }
  /** A batch, applied atomically. */
  | { readonly op: 'batch'; readonly path: string; readonly operations: readonly FileOperation[] }
  /** Sets the quota. The files stay as they are; later writes observe the limits. */
  | {
      readonly op: 'quota'
      readonly path: string
      readonly bytes?: number
      readonly files?: number
      readonly fileSize?: number
    }
  /** Deletes the vault: the last row, so that no process appends another. */
  | { readonly op: 'delete'; readonly path: string }
  /** Restores an earlier tree. */
  | { readonly op: 'restore'; readonly path: string; readonly root: number; readonly checkpoint: string }

/**
 * An operation by inode, as a kernel requests it: the inode may have been renamed or unlinked since. `path` only
 * names it for readers of the journal.
 */
export type InodeOperation =
  | {
      readonly op: 'create'
      readonly path: string
      readonly parent: number
      readonly name: string
      readonly type: FileType
      readonly mode: number
      readonly uid: number
      readonly gid: number
      /** Target of a symlink, or number of a device. */
      readonly text?: string
      /** Initial content; empty if absent. */
      readonly content?: StoredContent
      /** Access time, if other than the creation time. */
      readonly atime?: Timestamp
      readonly mtime?: Timestamp
    }
  | {
      readonly op: 'link'
      readonly path: string
      /** Earlier path, as the journal knows it. */
      readonly from?: string
      readonly inode: number
      readonly parent: number
      readonly name: string
    }
  | {
      readonly op: 'unlink'
      readonly path: string
      readonly parent: number
      readonly name: string
      /** True if it is open: it stays without a name until it is released. */
      readonly keep: boolean
    }
  | { readonly op: 'release'; readonly path: string; readonly inode: number }
  | {
      readonly op: 'move'
      readonly path: string
      readonly to: string
      readonly from: readonly [parent: number, name: string]
      readonly target: readonly [parent: number, name: string]
      /** Behaviour if the target exists: replace it, refuse, or exchange both. */
      readonly mode: 'replace' | 'refuse' | 'exchange'
      readonly keep: boolean
    }
  /** Replaces chunks, or punches holes where null; the file has this size afterwards. */
  | {
      readonly op: 'patch'
      readonly path: string
      readonly inode: number
      readonly size: number
      readonly inline?: string
      readonly chunks: readonly (readonly [index: number, chunk: BlobRef | null])[]
    }
  | {
      readonly op: 'attributes'
      readonly path: string
      readonly inode: number
      readonly mode?: number
      readonly uid?: number
      readonly gid?: number
      readonly atime?: Timestamp
      readonly mtime?: Timestamp
    }
  /** Sets an extended attribute (base64); null removes it. */
  | {
      readonly op: 'xattr'
      readonly path: string
      readonly inode: number
      readonly name: string
      readonly value: string | null
    }

export type FileOperation = PathOperation | InodeOperation

/** Actor of an operation, and its tool call. */
export interface Provenance {
  readonly caller?: Caller
  readonly trace?: string
}

/** Version that a mutation replaced; for a batch, that of each. Null if there was none. */
export type ReplacedVersion = number | null | readonly ReplacedVersion[]

/** One row of the journal: actor, operation and time. */
export interface JournalEntry extends Provenance {
  /** Eight random bytes in base64url, unique to the row; absent in rows of earlier versions. */
  readonly id?: string
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly operation: FileOperation
  /** Previous version of the file, if there was one. */
  readonly before?: ReplacedVersion
}
