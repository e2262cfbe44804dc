/** The type of a stored path. */
export type StorageKind = 'file' | 'directory'

/** One name in a directory. */
export interface StorageEntry {
  readonly name: string
  readonly kind: StorageKind
}

/** Metadata of a stored entry. */
export interface StorageMetadata {
  readonly kind: StorageKind
  /** In bytes; ignored for a directory. */
  readonly size: number
  /** Time of the last change. The epoch when absent. */
  readonly modified?: Date
}

/**
 * The interface that a storage implements. `fromStorage` adapts it to a file system.
 *
 * Paths are absolute and canonical. The root `/` always exists and is only listed. Changes arrive one at a time, each
 * after a check: the parent is an existing directory, and the target is free unless stated otherwise. Other programs
 * may still change the storage meanwhile.
 *
 * A failure is thrown with a `code`: `ENOENT` for a missing path, otherwise any code of Node or Coppice. An error
 * without a code becomes EIO with its message.
 */
export interface StorageBackend {
  /** Returns the content of a file. ENOENT. */
  read(path: string): Promise<Uint8Array>
  /** Creates a file or replaces its content, atomically. The storage may keep the array. */
  write(path: string, bytes: Uint8Array): Promise<void>
  /** Appends to a file and creates it if it is missing. */
  append(path: string, bytes: Uint8Array): Promise<void>
  /** Removes a file or an empty directory. */
  delete(path: string): Promise<void>
  /** Returns the entries of a directory in any order. */
  list(path: string): Promise<readonly StorageEntry[]>
  /** Reports whether the path exists. */
  exists(path: string): Promise<boolean>
  /** Creates one directory. */
  mkdir(path: string): Promise<void>
  /** Copies a file to a free path. Used if `rename` throws ENOTSUP. */
  copy(from: string, to: string): Promise<void>
  /** Moves a file, replacing another, or a directory with its content. ENOTSUP if it cannot. */
  rename(from: string, to: string): Promise<void>
  /** Returns the metadata of a path. ENOENT. */
  metadata(path: string): Promise<StorageMetadata>
}
