/// <reference lib="esnext.disposable" preserve="true" />

import type { VfsError } from './error.ts'
import type { CallContext, Capability, Content, FileSystem, Stat } from './file-system.ts'

/**
 * Forks in constant time by structural sharing. Neither side sees later writes to the other. An overlay's fork still
 * shares the lower layer, which only a `commit` changes.
 */
export interface Forkable {
  fork(): FileSystem
}

/** Options of `rename`. */
export interface RenameOptions {
  /** Replace an existing target. */
  readonly overwrite?: boolean
}

/**
 * Renames a file or a whole directory in place, and creates missing parents of the target. ENOENT, EEXIST, EINVAL (into its
 * own descendant); with `overwrite` EISDIR, ENOTDIR and ENOTEMPTY for a target that cannot be replaced.
 */
export interface Renamable {
  rename(from: string, to: string, options?: RenameOptions, ctx?: CallContext): Promise<void>
}

/** Options of `realpath`. */
export interface RealpathOptions {
  /** Also resolve the last name if it is a link. */
  readonly followLast?: boolean
}

/** Has symbolic links. Reads and writes follow them inside the file system; `stat` and `remove` do not. */
export interface Linkable {
  /** Creates a link at `path`. The target may be missing. EEXIST. */
  symlink(target: string, path: string, ctx?: CallContext): Promise<void>
  /** Returns the target as it was stored. EINVAL if the path is not a link. */
  readlink(path: string, ctx?: CallContext): Promise<string>
  /**
   * Resolves the links in a path, but its last name only with `followLast`; missing names stay as they are. ELOOP for more
   * than 40 links.
   */
  realpath(path: string, options?: RealpathOptions, ctx?: CallContext): Promise<string>
}

/** Metadata to set; absent fields stay unchanged. */
export interface StatChanges {
  /** Permission bits. */
  readonly mode?: number
  readonly mtime?: Date
  /** Change a symlink itself. Its target is changed when absent. */
  readonly ofLink?: boolean
}

/** Changes metadata without touching content. ENOENT, EINVAL (an invalid mode or time). */
export interface Attributed {
  setattr(path: string, changes: StatChanges, ctx?: CallContext): Promise<void>
}

/** The identity of a file: two paths with the same inode number are hard links of one file. */
export interface InodeIdentity {
  /** The inode number, which stays the same through renames until the file is removed. */
  readonly ino: number
  /** Number of hard links. */
  readonly nlink: number
}

/** Supports hard links: a change under one name is visible under all. */
export interface HardLinkable {
  /**
   * Creates a hard link. A symlink itself gets the second name; it is not followed. EEXIST, ENOENT (the file, or the
   * directory of the new name), ENOTDIR, EISDIR (a directory cannot have two names).
   */
  link(existing: string, path: string, ctx?: CallContext): Promise<void>
  /** Returns the identity of a path; that of a symlink itself. ENOENT. */
  identity(path: string, ctx?: CallContext): Promise<InodeIdentity>
}

/** Appends to a file without rewriting it. Creates the file if it is missing. */
export interface Appendable {
  append(path: string, content: Content, ctx?: CallContext): Promise<void>
}

/** Options of `open`: read-only when absent. */
export interface OpenOptions {
  readonly write?: boolean
  readonly create?: boolean
  readonly truncate?: boolean
  /** Every write goes to the current end of the file, whatever its position and whichever other writers append. */
  readonly append?: boolean
}

/** An open file or device: random access until it is closed. */
export interface FileHandle extends AsyncDisposable {
  read(position: number, length: number): Promise<Uint8Array>
  write(position: number, bytes: Uint8Array): Promise<void>
  truncate(size: number): Promise<void>
  stat(): Promise<Stat>
  sync(): Promise<void>
  close(): Promise<void>
}

/** Opens files for random access. */
export interface Openable {
  open(path: string, options?: OpenOptions, ctx?: CallContext): Promise<FileHandle>
}

/**
 * A regular expression that is tested on each line: a RegExp, or the pattern of an engine without catastrophic
 * backtracking. An index derives required literals from the source, in RegExp's notation or RE2's; it heeds the flags i
 * and u.
 */
export interface LinePattern {
  readonly source: string
  readonly flags: string
  /** Cost per character relative to a simple pattern, so that a costly search yields more often. 1 when absent. */
  readonly stepsPerCharacter?: number
  test(line: string): boolean
}

/** A search: a literal string, or a regular expression that is tested on each line. */
export interface SearchQuery {
  readonly pattern: string | LinePattern
  /** Lines of context. None when absent. */
  readonly before?: number
  readonly after?: number
  /** Called for each file below a directory that cannot be read; the search skips it. */
  readonly onUnreadable?: (path: string, error: VfsError) => void
}

/** One matching line, without its line end; lines count from 1. */
export interface Match {
  readonly path: string
  readonly line: number
  readonly text: string
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** Searches its own content, with the same result as reading every file. */
export interface Searchable {
  search(root: string, query: SearchQuery, ctx?: CallContext): AsyncIterable<Match>
}

/** Returns the SHA-256 of a file's content in hex without the caller reading it. */
export interface ContentAddressed {
  hash(path: string, ctx?: CallContext): Promise<string>
}

/**
 * One difference between two trees. A directory is listed only if it is empty on one side and missing on the other;
 * otherwise its files are.
 */
export interface PathChange {
  readonly kind: 'added' | 'modified' | 'deleted' | 'renamed'
  readonly path: string
  /** The old path, of a rename. */
  readonly from?: string
  readonly before?: Stat
  readonly after?: Stat
}

/** Compares itself with a related file system in time proportional to the changes. */
export interface Diffable {
  /**
   * Yields the changes since `before`, sorted by path. Returns null if the two have nothing in common to speed it up.
   */
  diffFrom(before: FileSystem, ctx?: CallContext): AsyncIterable<PathChange> | null
}

/** A version of a file in its history. */
export interface Version {
  readonly version: string
  readonly time: Date
  readonly size: number
}

/** Keeps earlier versions of each file. */
export interface Versioned {
  versions(path: string, ctx?: CallContext): AsyncIterable<Version>
  readVersion(path: string, version: string, ctx?: CallContext): AsyncIterable<Uint8Array>
}

/** Yields the changes at or below a path until the loop is left. */
export interface Watchable {
  watch(path: string, ctx?: CallContext): AsyncIterable<PathChange>
}

/**
 * Creates the guard of a protocol. It checks the capability, not the method: a layer has every method and declares only
 * what the file systems below support.
 */
function guard<Protocol>(capability: Capability): (fs: FileSystem) => fs is FileSystem & Protocol {
  return (fs): fs is FileSystem & Protocol => fs.capabilities.has(capability)
}

type Guard<Protocol> = (fs: FileSystem) => fs is FileSystem & Protocol

/** True if a file system declares `fork`. */
export const isForkable: Guard<Forkable> = guard('fork')
/** True if a file system declares `rename`. */
export const isRenamable: Guard<Renamable> = guard('rename')
/** True if a file system declares `link`. */
export const isLinkable: Guard<Linkable> = guard('link')
/** True if a file system declares `setattr`. */
export const isAttributed: Guard<Attributed> = guard('setattr')
/** True if a file system declares `hardlink`. */
export const isHardLinkable: Guard<HardLinkable> = guard('hardlink')
/** True if a file system declares `append`. */
export const isAppendable: Guard<Appendable> = guard('append')
/** True if a file system declares `open`. */
export const isOpenable: Guard<Openable> = guard('open')
/** True if a file system declares `search`. */
export const isSearchable: Guard<Searchable> = guard('search')
/** True if a file system declares `hash`. */
export const isContentAddressed: Guard<ContentAddressed> = guard('hash')
/** True if a file system declares `diff`. */
export const isDiffable: Guard<Diffable> = guard('diff')
/** True if a file system declares `version`. */
export const isVersioned: Guard<Versioned> = guard('version')
/** True if a file system declares `watch`. */
export const isWatchable: Guard<Watchable> = guard('watch')
