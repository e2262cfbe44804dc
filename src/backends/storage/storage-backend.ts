/** What a storage can hold at a path. */
export type StorageKind = 'file' | 'directory'

/** One name in a directory. */
export interface StorageEntry {
  readonly name: string
  readonly kind: StorageKind
}

export interface StorageMetadata {
  readonly kind: StorageKind
  /** In bytes; of a directory it does not matter. */
  readonly size: number
  /** When it was last changed; the beginning of time when absent. */
  readonly modified?: Date
}

/**
 * What someone who has storage writes to make a file system of it. `fromStorage` is the rest.
 *
 * Paths are absolute and canonical; the root `/` is a directory that is always there, and is only ever listed.
 * Changes come one after another, each after a look at what is there: a parent exists and is a directory, a target
 * is free unless said otherwise. What somebody else does to the storage meanwhile may still be met.
 *
 * A failure is thrown with a `code`: `ENOENT` where nothing is, and otherwise any code of Node's or Coppice's;
 * without one it becomes EIO with its message.
 */
export interface StorageBackend {
  /** All bytes of a file. ENOENT. */
  read(path: string): Promise<Uint8Array>
  /** Makes a file or replaces its content, all or nothing. The bytes are the storage's to keep. */
  write(path: string, bytes: Uint8Array): Promise<void>
  /** Adds to the end of a file, or makes it. */
  append(path: string, bytes: Uint8Array): Promise<void>
  /** Removes a file, or a directory that is empty. */
  delete(path: string): Promise<void>
  /** The names in a directory, in any order. */
  list(path: string): Promise<readonly StorageEntry[]>
  /** Whether anything is at the path. */
  exists(path: string): Promise<boolean>
  /** Makes one directory. */
  mkdir(path: string): Promise<void>
  /** Copies a file to a path where nothing is. Used where `rename` is ENOTSUP. */
  copy(from: string, to: string): Promise<void>
  /** Moves a file, over another if there is one, or a directory with all it holds. ENOTSUP if it cannot. */
  rename(from: string, to: string): Promise<void>
  /** What is at a path. ENOENT. */
  metadata(path: string): Promise<StorageMetadata>
}
