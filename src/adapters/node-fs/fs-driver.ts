import type { DirEntry, OpenOptions, StatChanges, SyncStat } from '../../vfs/index.ts'
import type { MaybeAsync } from './coroutine.ts'

/** An open file, whether its answers are at hand or come later. */
export interface DriverFile {
  /** Fewer bytes than asked for only at the end of the file. */
  read(position: number, length: number): MaybeAsync<Uint8Array>
  /** The bytes are the caller's again when the answer is there. */
  write(position: number, bytes: Uint8Array): MaybeAsync<void>
  truncate(size: number): MaybeAsync<void>
  stat(): MaybeAsync<SyncStat>
  sync(): MaybeAsync<void>
  close(): MaybeAsync<void>
}

export interface WriteMode {
  /** EEXIST if something is there. */
  readonly exclusive?: boolean
  /** The permission bits the file has then; as they were, or those of any new file, when absent. */
  readonly mode?: number
}

/** What can be read from a file that is written as a whole. */
export type FileSource = Uint8Array | AsyncIterable<Uint8Array | string>

/** A listing that is taken name by name; undefined at its end. */
export interface DirectoryCursor {
  /** Whether its answers are at hand. */
  readonly isSync: boolean
  next(): MaybeAsync<DirEntry | undefined>
  close(): MaybeAsync<void>
}

/**
 * What every operation is made of: the files of a file system as Node's own operations see them. Paths are canonical.
 * Nothing makes missing parents.
 */
export interface FsDriver {
  /** Whether anything can be changed at all. */
  readonly isWritable: boolean
  /** Describes a symlink, does not follow it. */
  lstat(path: string): MaybeAsync<SyncStat>
  /** The path with all links followed. */
  realpath(path: string): MaybeAsync<string>
  readdir(path: string): MaybeAsync<DirEntry[]>
  list(path: string): MaybeAsync<DirectoryCursor>
  open(path: string, options: OpenOptions): MaybeAsync<DriverFile>
  readFile(path: string): MaybeAsync<Uint8Array>
  writeFile(path: string, content: FileSource, mode: WriteMode): MaybeAsync<void>
  /** Of a file, streaming. */
  copyFile(from: string, to: string, mode: WriteMode): MaybeAsync<void>
  /** Adds to a file that is there. */
  append(path: string, content: Uint8Array): MaybeAsync<void>
  mkdir(path: string, mode: number): MaybeAsync<void>
  remove(path: string, recursive: boolean): MaybeAsync<void>
  /** Removes an empty directory. */
  rmdir(path: string): MaybeAsync<void>
  /** Replaces what is at the target, as a kernel does. */
  rename(from: string, to: string): MaybeAsync<void>
  symlink(target: string, path: string): MaybeAsync<void>
  readlink(path: string): MaybeAsync<string>
  link(existing: string, path: string): MaybeAsync<void>
  setattr(path: string, changes: StatChanges): MaybeAsync<void>
}
