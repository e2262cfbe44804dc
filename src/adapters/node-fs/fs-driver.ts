import type { DirEntry, OpenOptions, StatChanges, SyncStat } from '../../vfs/index.ts'
import type { MaybeAsync } from './coroutine.ts'

/** An open file, synchronous or asynchronous. */
export interface DriverFile {
  /** Reads bytes; fewer than requested only at the end of the file. */
  read(position: number, length: number): MaybeAsync<Uint8Array>
  /** Writes bytes; the caller may reuse the buffer once this settles. */
  write(position: number, bytes: Uint8Array): MaybeAsync<void>
  truncate(size: number): MaybeAsync<void>
  stat(): MaybeAsync<SyncStat>
  sync(): MaybeAsync<void>
  close(): MaybeAsync<void>
}

export interface WriteMode {
  /** EEXIST if the path exists. */
  readonly exclusive?: boolean
  /** Permission bits to set; unchanged, or the default of a new file, when absent. */
  readonly mode?: number
}

/** Content for writing a whole file. */
export type FileSource = Uint8Array | AsyncIterable<Uint8Array | string>

/** A directory cursor; `next` returns undefined at the end. */
export interface DirectoryCursor {
  /** True if its results are synchronous. */
  readonly isSync: boolean
  next(): MaybeAsync<DirEntry | undefined>
  close(): MaybeAsync<void>
}

/**
 * Primitives of all operations: a file system as Node's operations see it. Paths are canonical.
 * Nothing creates missing parents.
 */
export interface FsDriver {
  /** True if the file system is writable. */
  readonly isWritable: boolean
  /** Describes a symlink, does not follow it. */
  lstat(path: string): MaybeAsync<SyncStat>
  /** Resolves all links of a path. */
  realpath(path: string): MaybeAsync<string>
  readdir(path: string): MaybeAsync<DirEntry[]>
  list(path: string): MaybeAsync<DirectoryCursor>
  open(path: string, options: OpenOptions): MaybeAsync<DriverFile>
  readFile(path: string): MaybeAsync<Uint8Array>
  writeFile(path: string, content: FileSource, mode: WriteMode): MaybeAsync<void>
  /** Copies a file as a stream. */
  copyFile(from: string, to: string, mode: WriteMode): MaybeAsync<void>
  /** Appends to an existing file. */
  append(path: string, content: Uint8Array): MaybeAsync<void>
  mkdir(path: string, mode: number): MaybeAsync<void>
  remove(path: string, recursive: boolean): MaybeAsync<void>
  /** Removes an empty directory. */
  rmdir(path: string): MaybeAsync<void>
  /** Renames, replacing the target as a kernel does. */
  rename(from: string, to: string): MaybeAsync<void>
  symlink(target: string, path: string): MaybeAsync<void>
  readlink(path: string): MaybeAsync<string>
  link(existing: string, path: string): MaybeAsync<void>
  setattr(path: string, changes: StatChanges): MaybeAsync<void>
}
