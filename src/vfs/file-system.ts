/** Type of a path. Devices, sockets and pipes are `other`. */
export type FileType = 'file' | 'directory' | 'symlink' | 'other'

/** Metadata every backend can give. Directories have size 0; `mode` is null where permissions mean nothing. */
export interface Stat {
  readonly type: FileType
  readonly size: number
  readonly mtime: Date
  readonly mode: number | null
}

/** One name inside a directory. */
export interface DirEntry {
  readonly name: string
  readonly type: FileType
}

/** One path met by a walk. */
export interface WalkEntry {
  readonly path: string
  readonly stat: Stat
}

/** Identity of the caller. Policies decide by it, the journal records it. */
export type Caller =
  | { readonly kind: 'system' }
  | { readonly kind: 'context'; readonly context: string }
  | { readonly kind: 'process'; readonly pid: number; readonly context: string }

/** Context of a call in every layer: caller, cancellation, trace, and link policy. */
export interface CallContext {
  readonly caller?: Caller
  readonly signal?: AbortSignal
  readonly trace?: string
  /**
   * `refuse`: a link that would be followed is ELOOP. For whoever judged a path and must not be led elsewhere by a link
   * put there meanwhile.
   */
  readonly links?: 'refuse'
}

/** File content as a caller may hand it over. The file system copies what it keeps. */
export type Content = string | Uint8Array | AsyncIterable<Uint8Array | string>

/** Applied in this order: bytes, then lines, then chunks. */
export interface ReadOptions {
  /** Size of every chunk but the last. An integer above 0; 64 KiB when absent. */
  readonly chunkSize?: number
  /** `[start, length]`, clamped to the file; at or past its end the read is empty. */
  readonly byteRange?: readonly [start: number, length: number]
  /** `[first, last]`, counted from 1. The newline of line `last` is not part of it; `'end'` reads all the rest. */
  readonly lineRange?: readonly [first: number, last: number | 'end']
}

export interface WalkOptions {
  /** 0 yields nothing, 1 the immediate children; unlimited when absent. Counted from the walk's root, across mounts. */
  readonly maxDepth?: number
  readonly includeDirs?: boolean
}

export interface MaterializeOptions {
  /** Prefetch only what is at or below this path. */
  readonly prefix?: string
}

export interface WriteOptions {
  /** Make missing parent directories. True when absent. */
  readonly parents?: boolean
  /** Write only if the file's version or content hash is this one; null: only if there is no file. */
  readonly ifMatch?: string | null
  /** Permission bits of the file; an overwrite keeps the old ones when absent. */
  readonly mode?: number
}

export interface MkdirOptions {
  /** Make missing parents, and accept a directory that is already there. */
  readonly parents?: boolean
  readonly mode?: number
}

export interface RemoveOptions {
  /** Remove a directory with all it holds. */
  readonly recursive?: boolean
}

/**
 * What a file system declares it can do: six of the protocol, and one for each secondary protocol (`protocols.ts`).
 * - `read`, `write`: content can be read, changed.
 * - `mkdir`: directories exist in their own right. Without it they come and go with their files, as in a key–value store.
 * - `native-walk`: `walk` is answered in bulk, not composed from `readdir` and `stat`.
 * - `native-read`: a byte range is fetched alone, not cut out of the whole.
 * - `lazy`: content is fetched on use, so `materialize` before a bulk read saves round trips.
 */
export type Capability =
  | 'read'
  | 'write'
  | 'mkdir'
  | 'native-walk'
  | 'native-read'
  | 'lazy'
  | 'fork'
  | 'rename'
  | 'link'
  | 'hardlink'
  | 'setattr'
  | 'sync'
  | 'append'
  | 'open'
  | 'search'
  | 'hash'
  | 'diff'
  | 'version'
  | 'watch'

/**
 * The protocol every backend, mount table and layer speaks: ten operations, lazy by default.
 *
 * Paths are absolute; a backend behaves as if rooted at `/`.
 * Failures are `VfsError`s; a stream's failure surfaces before its first item.
 * Writes are atomic: a reader sees the old content or the new, and a stream opened earlier finishes with the old.
 * Writes to one path take effect in the order they were issued.
 */
export interface FileSystem {
  readonly capabilities: ReadonlySet<Capability>

  /** Reports whether the path exists. Never throws for a missing one. */
  exists(path: string, ctx?: CallContext): Promise<boolean>

  /** Metadata of a path; a symlink is described, not followed. ENOENT. */
  stat(path: string, ctx?: CallContext): Promise<Stat>

  /** The immediate children, lazily; where the directory is bounded, in the order of JavaScript's `<`. ENOENT, ENOTDIR. */
  readdir(path: string, ctx?: CallContext): AsyncIterable<DirEntry>

  /** The only read of content. ENOENT, EISDIR, EINVAL. Leaving the loop early releases the source. */
  read(path: string, options?: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array>

  /** Everything below a root, depth first. A missing root is empty; unreadable subtrees are skipped. */
  walk(root: string, options?: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry>

  /** Prefetch for lazy backends; does nothing elsewhere. */
  materialize(options?: MaterializeOptions, ctx?: CallContext): Promise<void>

  /** Replace the whole content of a file. EISDIR, ENOTDIR, ENOENT (`parents: false`), ECONFLICT (`ifMatch`), EROFS. */
  write(path: string, content: Content, options?: WriteOptions, ctx?: CallContext): Promise<void>

  /** Make a directory. EEXIST, ENOENT, ENOTDIR, EROFS, ENOTSUP. */
  mkdir(path: string, options?: MkdirOptions, ctx?: CallContext): Promise<void>

  /** Remove a file, or a directory with `recursive`. ENOENT, EISDIR, EINVAL (the root, a mount point), EROFS. */
  remove(path: string, options?: RemoveOptions, ctx?: CallContext): Promise<void>
}
