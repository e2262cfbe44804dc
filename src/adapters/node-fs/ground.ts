import type { DirEntry, OpenOptions, StatChanges, SyncStat } from '../../vfs/index.ts'
import type { Answer } from './steps.ts'

/** An open file, whether its answers are at hand or come later. */
export interface GroundFile {
  /** Fewer bytes than asked for only at the end of the file. */
  read(position: number, length: number): Answer<Uint8Array>
  /** The bytes are the caller's again when the answer is there. */
  write(position: number, bytes: Uint8Array): Answer<void>
  truncate(size: number): Answer<void>
  stat(): Answer<SyncStat>
  sync(): Answer<void>
  close(): Answer<void>
}

export interface WriteMode {
  /** EEXIST if something is there. */
  readonly exclusive?: boolean
  /** The permission bits the file has then; as they were, or those of any new file, when absent. */
  readonly mode?: number
}

/** What can be read from a file that is written as a whole. */
export type Written = Uint8Array | AsyncIterable<Uint8Array | string>

/** A listing that is taken name by name; undefined at its end. */
export interface Names {
  /** Whether its answers are at hand. */
  readonly isSync: boolean
  next(): Answer<DirEntry | undefined>
  close(): Answer<void>
}

/**
 * What every operation is made of: the files of a file system as Node's own operations see them. Paths are canonical.
 * Nothing makes missing parents.
 */
export interface Ground {
  /** Whether anything can be changed at all. */
  readonly isWritable: boolean
  /** Describes a symlink, does not follow it. */
  lstat(path: string): Answer<SyncStat>
  /** The path with all links followed. */
  realpath(path: string): Answer<string>
  readdir(path: string): Answer<DirEntry[]>
  list(path: string): Answer<Names>
  open(path: string, options: OpenOptions): Answer<GroundFile>
  readFile(path: string): Answer<Uint8Array>
  writeFile(path: string, content: Written, mode: WriteMode): Answer<void>
  /** Of a file, streaming. */
  copyFile(from: string, to: string, mode: WriteMode): Answer<void>
  /** Adds to a file that is there. */
  append(path: string, content: Uint8Array): Answer<void>
  mkdir(path: string, mode: number): Answer<void>
  remove(path: string, recursive: boolean): Answer<void>
  /** Removes an empty directory. */
  rmdir(path: string): Answer<void>
  /** Replaces what is at the target, as a kernel does. */
  rename(from: string, to: string): Answer<void>
  symlink(target: string, path: string): Answer<void>
  readlink(path: string): Answer<string>
  link(existing: string, path: string): Answer<void>
  setattr(path: string, changes: StatChanges): Answer<void>
}
