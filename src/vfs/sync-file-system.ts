import { isVfsError } from './error.ts'
import type { CallContext, DirEntry, FileSystem, MkdirOptions, RemoveOptions, Stat } from './file-system.ts'
import type { InodeIdentity, OpenOptions, RealpathOptions, RenameOptions, StatChanges } from './protocols.ts'

/** An open file with synchronous random access. It stays usable until it is closed, even after its name is removed. */
export interface SyncFileHandle {
  /** Reads up to `length` bytes; fewer only at the end of the file. */
  read(position: number, length: number): Uint8Array
  /** Fills a gap between the end and `position` with zeros. */
  write(position: number, bytes: Uint8Array): void
  truncate(size: number): void
  stat(): SyncStat
  /** Makes written data survive power loss, if the file system supports that. */
  sync(): void
  close(): void
}

/** Metadata with the inode identity, since synchronous callers usually need both. */
export interface SyncStat extends Stat, InodeIdentity {}

/**
 * The synchronous interface of a file system, for callers that cannot await, such as an interpreter's system calls.
 * Each call is complete when it returns, and sees all earlier changes through the asynchronous interface. Paths, links
 * and errors follow the asynchronous protocol. An unsupported operation throws ENOTSUP.
 */
export interface SyncFileSystem {
  /** Describes a symlink, does not follow it. ENOENT. */
  stat(path: string, ctx?: CallContext): SyncStat
  /** Returns the immediate children, sorted. ENOENT, ENOTDIR. */
  readdir(path: string, ctx?: CallContext): DirEntry[]
  /** Opens a file and follows links. ENOENT if it is missing and `create` is not set, EISDIR for a directory. */
  open(path: string, options?: OpenOptions, ctx?: CallContext): SyncFileHandle
  mkdir(path: string, options?: MkdirOptions, ctx?: CallContext): void
  /** Removes a file, or with `recursive` a whole directory. EISDIR for a directory without it. */
  remove(path: string, options?: RemoveOptions, ctx?: CallContext): void
  /** Removes an empty directory. ENOTEMPTY, ENOTDIR. */
  rmdir(path: string, ctx?: CallContext): void
  rename(from: string, to: string, options?: RenameOptions, ctx?: CallContext): void
  symlink(target: string, path: string, ctx?: CallContext): void
  readlink(path: string, ctx?: CallContext): string
  realpath(path: string, options?: RealpathOptions, ctx?: CallContext): string
  /** Creates a hard link. EEXIST, EISDIR. */
  link(existingPath: string, newPath: string, ctx?: CallContext): void
  setattr(path: string, changes: StatChanges, ctx?: CallContext): void
}

/** A file system that has a synchronous interface. */
export interface Synchronous {
  readonly sync: SyncFileSystem
}

/**
 * Reports whether a file system has a synchronous interface. The capability decides: a file system around another one
 * always has the property.
 */
export function isSynchronous(fs: FileSystem): fs is FileSystem & Synchronous {
  return fs.capabilities.has('sync')
}

/**
 * Calls the synchronous interface. Returns undefined if there is none, or if it throws ENOTSUP, as that of a vault's
 * history does. So `call` must not return undefined itself.
 */
export function trySync<T>(fs: FileSystem, call: (sync: SyncFileSystem) => T): T | undefined {
  if (!isSynchronous(fs)) return undefined
  try {
    return call(fs.sync)
  } catch (error) {
    if (isVfsError(error, 'ENOTSUP')) return undefined
    throw error
  }
}
