import { isVfsError } from './error.ts'
import type { CallContext, DirEntry, FileSystem, MkdirOptions, RemoveOptions, Stat } from './file-system.ts'
import type { InodeIdentity, OpenOptions, RealpathOptions, RenameOptions, StatChanges } from './protocols.ts'

/** A file that is open to a caller who cannot wait: random access until it is closed, also after its name is gone. */
export interface SyncFileHandle {
  /** Fewer bytes than asked for only at the end of the file. */
  read(position: number, length: number): Uint8Array
  /** Fills a gap between the end and `position` with zeros. */
  write(position: number, bytes: Uint8Array): void
  truncate(size: number): void
  stat(): SyncStat
  /** Makes written data survive power loss, if the file system supports that. */
  sync(): void
  close(): void
}

/** Metadata together with which file it is, since a caller that cannot wait asks for both at once. */
export interface SyncStat extends Stat, InodeIdentity {}

/**
 * The files of a file system for callers that cannot wait, such as an interpreter's system calls: each call is done
 * when it returns, and everything done through the other face before it is seen. Paths, links and errors are those
 * of the asynchronous protocol; what the file system cannot do is ENOTSUP.
 */
export interface SyncFileSystem {
  /** Describes a symlink, does not follow it. ENOENT. */
  stat(path: string, ctx?: CallContext): SyncStat
  /** The immediate children, sorted. ENOENT, ENOTDIR. */
  readdir(path: string, ctx?: CallContext): DirEntry[]
  /** Follows links. ENOENT without `create`, EISDIR. */
  open(path: string, options?: OpenOptions, ctx?: CallContext): SyncFileHandle
  mkdir(path: string, options?: MkdirOptions, ctx?: CallContext): void
  /** EISDIR for a directory unless `recursive`. */
  remove(path: string, options?: RemoveOptions, ctx?: CallContext): void
  /** Removes a directory that is empty. ENOTEMPTY, ENOTDIR. */
  rmdir(path: string, ctx?: CallContext): void
  rename(from: string, to: string, options?: RenameOptions, ctx?: CallContext): void
  symlink(target: string, path: string, ctx?: CallContext): void
  readlink(path: string, ctx?: CallContext): string
  realpath(path: string, options?: RealpathOptions, ctx?: CallContext): string
  /** A second name for a file. EEXIST, EISDIR. */
  link(existing: string, path: string, ctx?: CallContext): void
  setattr(path: string, changes: StatChanges, ctx?: CallContext): void
}

/** Can be used without waiting as well. */
export interface Synchronous {
  readonly sync: SyncFileSystem
}

/** A layer has the property whatever its parts can do, so the capability decides. */
export function isSynchronous(fs: FileSystem): fs is FileSystem & Synchronous {
  return fs.capabilities.has('sync')
}

/** The answer of the synchronous face, if there is one that knows: of a vault's past, say, it knows nothing. */
export function trySync<T>(fs: FileSystem, ask: (sync: SyncFileSystem) => T): T | undefined {
  if (!isSynchronous(fs)) return undefined
  try {
    return ask(fs.sync)
  } catch (error) {
    if (isVfsError(error, 'ENOTSUP')) return undefined
    throw error
  }
}
