import { copyBytes } from '../../vfs/index.ts'
import { CHUNK_BYTES } from '../tree/tree-values.ts'

/** How many bytes of content are kept at hand. */
const CAPACITY_BYTES = 32 * 1024 * 1024
/** Chunks of large files are not: whoever streams one would drive out everything else. */
const MAX_BLOB_BYTES = CHUNK_BYTES - 1

/** Content that was read or written lately; what was not used for a while goes first. */
export class BlobCache {
  /** Blobs used since the last turn, and those of the turn before: two maps make an LRU without a list. */
  #recent = new Map<number, Uint8Array>()
  #older = new Map<number, Uint8Array>()
  #bytes = 0

  get(id: number): Uint8Array | undefined {
    const recent = this.#recent.get(id)
    if (recent !== undefined) return recent
    const older = this.#older.get(id)
    if (older !== undefined) this.#putOwned(id, older)
    return older
  }

  put(id: number, bytes: Uint8Array): void {
    if (bytes.length > MAX_BLOB_BYTES) return
    // A piece of a larger buffer, such as the end of a file that was written whole, would keep all of that in memory.
    const own = bytes.length < bytes.buffer.byteLength ? copyBytes(bytes) : bytes
    this.#putOwned(id, own)
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
