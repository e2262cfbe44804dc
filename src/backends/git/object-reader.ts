/** What an object of a repository is. */
export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag'

/** An object with its bytes. They are shared: whoever hands them on copies. */
export interface GitObject {
  readonly type: ObjectType
  readonly bytes: Uint8Array
}

/**
 * The objects of one repository. Ids are full, in lower-case hex; an object never changes, so any answer may be kept.
 * ENOENT for a commit that is not there, EIO for an object that should be, EUNAVAILABLE for one that is elsewhere.
 */
export interface ObjectReader extends AsyncDisposable {
  /** The commit that a branch, a tag, `HEAD` or an id names. EINVAL for what cannot be a name. */
  resolve(name: string): Promise<string>

  /** Objects with their bytes, in the order asked for, in one go. For trees, commits and blobs that fit into memory. */
  objects(ids: readonly string[]): Promise<GitObject[]>

  /** The sizes of blobs in the order asked for, without their bytes where the reader can. Fetches what is elsewhere. */
  sizes(ids: readonly string[]): Promise<number[]>

  /** The bytes of a large blob as they come. Leaving the loop early releases the source. */
  stream(id: string): AsyncIterable<Uint8Array>
}
