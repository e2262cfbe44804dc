import type { Caller, FileType } from '../../vfs/index.ts'
import type { BlobRef, Timestamp } from '../tree/tree-values.ts'

/** Content whose bytes are in the store: small ones in here (base64), larger ones as chunks of blobs. */
export interface StoredContent {
  readonly size: number
  readonly inline?: string
  readonly chunks?: readonly BlobRef[]
}

/** A mutation by path, with everything it needs to be applied again on the same tree, with the same result. */
export type PathOperation =
  | {
      readonly op: 'write'
      readonly path: string
      readonly content: StoredContent
      readonly parents: boolean
      readonly mode?: number
      readonly mtime?: Timestamp
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
  /** Tags put on and taken off a file. */
  | {
      readonly op: 'tag'
      readonly path: string
      readonly add: readonly string[]
      readonly remove: readonly string[]
    }
  /** A file's metadata: null takes a key away. */
  | { readonly op: 'meta'; readonly path: string; readonly values: Readonly<Record<string, string | null>> }
  /** A file becomes an earlier version of itself. */
  | {
      readonly op: 'revert'
      readonly path: string
      readonly version: number
      readonly content: StoredContent
    }
  /** Several at once, all or none: what a merge does. `root` is the tree that was merged, of the vault `source`. */
  | {
      readonly op: 'merge'
      readonly path: string
      readonly from: string
      readonly source: number
      readonly root: number
      /** The row of the source that its tree includes; absent in rows of earlier versions. */
      readonly seq?: number
      readonly operations: readonly FileOperation[]
    }
  /** Several at once, all or none. */
  | { readonly op: 'batch'; readonly path: string; readonly operations: readonly FileOperation[] }
  /** Other limits apply from here on. The files are as before; whoever writes takes notice. */
  | {
      readonly op: 'quota'
      readonly path: string
      readonly bytes?: number
      readonly files?: number
      readonly fileSize?: number
    }
  /** The vault was deleted: the last row, so that nobody writes another one. */
  | { readonly op: 'delete'; readonly path: string }
  /** Becomes an earlier tree: what a restore does. */
  | { readonly op: 'restore'; readonly path: string; readonly root: number; readonly checkpoint: string }

/**
 * A mutation by inode, as a kernel asks for it: what it changes may have another name by now, or none.
 * `path` only tells the reader of the journal where it was.
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
      /** A link's target, or a device's number. */
      readonly text?: string
      /** What a file has from the beginning; nothing, if absent. */
      readonly content?: StoredContent
      /** If other than the moment it is made. */
      readonly atime?: Timestamp
      readonly mtime?: Timestamp
    }
  | {
      readonly op: 'link'
      readonly path: string
      /** A name it had before, as the journal knows it. */
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
      /** Somebody has it open: it stays without a name until it is released. */
      readonly keep: boolean
    }
  | { readonly op: 'release'; readonly path: string; readonly inode: number }
  | {
      readonly op: 'move'
      readonly path: string
      readonly to: string
      readonly from: readonly [parent: number, name: string]
      readonly target: readonly [parent: number, name: string]
      /** What is at the target: gives way (`replace`), refuses, or changes places. */
      readonly mode: 'replace' | 'refuse' | 'exchange'
      readonly keep: boolean
    }
  /** Chunks that get other bytes, or null where a hole is; the file has this size afterwards. */
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
  /** An extended attribute (base64); null takes it away. */
  | {
      readonly op: 'xattr'
      readonly path: string
      readonly inode: number
      readonly name: string
      readonly value: string | null
    }

export type FileOperation = PathOperation | InodeOperation

/** Who does something, and for which tool call. */
export interface Provenance {
  readonly caller?: Caller
  readonly trace?: string
}

/** The version a mutation replaced; of several at once, that of each. Null: it replaced none. */
export type ReplacedVersion = number | null | readonly ReplacedVersion[]

/** One row of the journal: who did what, when. */
export interface JournalEntry extends Provenance {
  /** Eight random bytes in base64url, which no other row has; absent in rows of earlier versions. */
  readonly id?: string
  /** Milliseconds since the epoch. */
  readonly time: number
  readonly operation: FileOperation
  /** The version of the file before, where there was one. */
  readonly before?: ReplacedVersion
}
