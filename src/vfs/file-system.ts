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

/** One path that a walk yields. */
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
  /** The person, agent or process that calls; a guard judges it, and a journal records it. */
  readonly caller?: Caller
  /** Ends the call with the signal's reason: before it starts, or at the next step of its stream. */
  readonly signal?: AbortSignal
  /** Identifies the tool call or request in journals and events. */
  readonly trace?: string
  /**
   * `refuse`: following a link fails with ELOOP. A caller that has checked a path sets this, so that a link created
   * meanwhile cannot redirect the operation.
   */
  readonly links?: 'refuse'
}

/** File content as a caller passes it. The file system copies the bytes it keeps. */
export type Content = string | Uint8Array | AsyncIterable<Uint8Array | string>

/** Applied in this order: bytes, then lines, then chunks. */
export interface ReadOptions {
  /** Size of every chunk but the last. An integer above 0; 64 KiB when absent. */
  readonly chunkSize?: number
  /** `[start, length]`, clamped to the file; at or past its end the read is empty. */
  readonly byteRange?: readonly [start: number, length: number]
  /** `[first, last]`, counted from 1, without the newline of line `last`. `'end'` reads to the end of the file. */
  readonly lineRange?: readonly [first: number, last: number | 'end']
}

/** Options of `walk`. */
export interface WalkOptions {
  /** Depth below the walk's root, across mounts: 0 yields nothing, 1 the immediate children. Unlimited when absent. */
  readonly maxDepth?: number
  /** Yields directories too. Only files when absent. */
  readonly includeDirs?: boolean
}

/** Options of `materialize`. */
export interface MaterializeOptions {
  /** Prefetch only this path and the paths below it. */
  readonly prefix?: string
}

/** Options of `write`. */
export interface WriteOptions {
  /** Make missing parent directories. True when absent. */
  readonly parents?: boolean
  /** Write only if the file has this version or content hash. Null: only if there is no file. */
  readonly ifMatch?: string | null
  /** Permission bits of the file; an overwrite keeps the old ones when absent. */
  readonly mode?: number
}

/** Options of `mkdir`. */
export interface MkdirOptions {
  /** Make missing parents, and accept a directory that is already there. */
  readonly parents?: boolean
  /** Permission bits of the directory. */
  readonly mode?: number
}

/** Options of `remove`. */
export interface RemoveOptions {
  /** Remove a directory with its content. */
  readonly recursive?: boolean
}

/**
 * An ability that a file system declares: six of the protocol, and one for each secondary protocol (`protocols.ts`).
 * - `read`, `write`: content can be read, changed.
 * - `mkdir`: directories exist in their own right. Without it they appear and vanish with their files, as in a
 * key–value store.
 * - `native-walk`: `walk` runs in bulk, not composed from `readdir` and `stat`.
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
 * The protocol that every backend, mount table and layer implements: ten operations, `capabilities` among them, lazy by
 * default.
 *
 * Paths are absolute; a backend behaves as if rooted at `/`. Failures are `VfsError`s. A stream reports them in its steps;
 * those of its path and options before the first item.
 * Writes are atomic: a reader sees the old content or the new, and a stream opened earlier finishes with the old.
 * Writes to one path take effect in the order they were issued.
 */
export interface FileSystem {
  readonly capabilities: ReadonlySet<Capability>

  /** Reports whether the path exists. Never throws ENOENT. */
  exists(path: string, ctx?: CallContext): Promise<boolean>

  /** Returns the metadata of a path. Describes a symlink, does not follow it. ENOENT. */
  stat(path: string, ctx?: CallContext): Promise<Stat>

  /**
   * Yields the immediate children, lazily; in the order of JavaScript's `<` if the directory is bounded. ENOENT,
   * ENOTDIR.
   */
  readdir(path: string, ctx?: CallContext): AsyncIterable<DirEntry>

  /** Yields the content of a file in chunks. Leaving the loop early releases the source. ENOENT, EISDIR, EINVAL (options). */
  read(path: string, options?: ReadOptions, ctx?: CallContext): AsyncIterable<Uint8Array>

  /**
   * Yields everything below a root, depth first; directories only with `includeDirs`. A missing root yields nothing;
   * unreadable subtrees are skipped.
   */
  walk(root: string, options?: WalkOptions, ctx?: CallContext): AsyncIterable<WalkEntry>

  /** Prefetches content in a lazy backend. Does nothing elsewhere. */
  materialize(options?: MaterializeOptions, ctx?: CallContext): Promise<void>

  /** Replaces the whole content of a file. EISDIR, ENOTDIR, ENOENT (`parents: false`), ECONFLICT (`ifMatch`), EROFS. */
  write(path: string, content: Content, options?: WriteOptions, ctx?: CallContext): Promise<void>

  /** Creates a directory. EEXIST, ENOENT (no parent), ENOTDIR, EROFS, ENOTSUP (without the capability `mkdir`). */
  mkdir(path: string, options?: MkdirOptions, ctx?: CallContext): Promise<void>

  /** Removes a file, or a directory with `recursive`. ENOENT, EISDIR, EINVAL (the root, a mount point), EROFS. */
  remove(path: string, options?: RemoveOptions, ctx?: CallContext): Promise<void>
}
