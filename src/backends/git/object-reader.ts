/** Type of an object. */
export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag'

/** An object with its bytes. They are shared: copy them before passing them on. */
export interface GitObject {
  readonly type: ObjectType
  readonly bytes: Uint8Array
}

/**
 * Reads the objects of one repository. Ids are full, in lower-case hex. Objects never change, so any result may be cached.
 * ENOENT for a name without a commit, EUNAVAILABLE for an object that the repository lacks, EIO if it cannot be read.
 */
export interface ObjectReader extends AsyncDisposable {
  /** Resolves a branch, a tag, `HEAD` or an id to a commit. EINVAL for an invalid name. */
  resolve(name: string): Promise<string>

  /** Reads objects in one batch, in the order of the ids. For trees, commits and blobs that fit into memory. */
  objects(ids: readonly string[]): Promise<GitObject[]>

  /** Reads the sizes of blobs in the order of the ids, without their bytes if possible. Fetches missing blobs. */
  sizes(ids: readonly string[]): Promise<number[]>

  /** Streams a large blob. Leaving the loop early releases the source. */
  stream(id: string): AsyncIterable<Uint8Array>
}
