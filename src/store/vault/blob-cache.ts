import { Slab } from '../../vfs/index.ts'
import { CHUNK_BYTES } from '../tree/tree-values.ts'

/** Capacity in bytes. */
const CAPACITY_BYTES = 32 * 1024 * 1024
/** Limit of a cached blob. Chunks of large files are not cached: one stream would evict everything else. */
const MAX_BLOB_BYTES = CHUNK_BYTES - 1

/** LRU cache of blob content. */
export class BlobCache {
  /** Blobs used since the last rotation, and those of the rotation before: two maps make an LRU without a list. */
  #recent = new Map<number, Uint8Array>()
  #older = new Map<number, Uint8Array>()
  #bytes = 0
  /** Memory of small blobs: an array for each would cost microseconds. Those of one slab leave the cache together. */
  readonly #slab: Slab

  /** @param slab pieces of it are cached as they are. */
  constructor(slab: Slab = Slab.forStored()) {
    this.#slab = slab
  }

  get(id: number): Uint8Array | undefined {
    const recent = this.#recent.get(id)
    if (recent !== undefined) return recent
    const older = this.#older.get(id)
    // Copied out of its slab, which is to go with the older map.
    if (older !== undefined) this.#putOwned(id, this.#slab.copy(older))
    return older
  }

  put(id: number, bytes: Uint8Array): void {
    if (bytes.length > MAX_BLOB_BYTES) return
    // A slice, such as the end of a file or a piece of a pool, would keep its whole buffer in memory.
    const isOwn = bytes.length === bytes.buffer.byteLength || this.#slab.hasPiece(bytes)
    this.#putOwned(id, isOwn ? bytes : this.#slab.copy(bytes))
  }

  #putOwned(id: number, bytes: Uint8Array): void {
    this.#recent.set(id, bytes)
    this.#bytes += bytes.length
    if (this.#bytes < CAPACITY_BYTES / 2) return
    this.#older = this.#recent
    this.#recent = new Map()
    this.#bytes = 0
  }
}
