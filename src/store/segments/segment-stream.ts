import { type BlobRef, CHUNK_BYTES } from '../tree/tree-values.ts'
import { SEGMENT_BYTES } from './segment-store.ts'

/** Stores chunks, such as those of an upload. */
export interface ChunkStore {
  /** Number of calls that may wait at a time. */
  readonly concurrency: number
  store(chunks: readonly Uint8Array[]): Promise<readonly BlobRef[]>
}

/** Cuts a stream into chunks and stores those of each segment while the next one is filled. */
export class SegmentStream {
  readonly #store: ChunkStore
  readonly #results: Promise<readonly BlobRef[]>[] = []
  readonly #running = new Set<Promise<unknown>>()
  /** Buffers to fill again: a new one costs as much as its copy. Their memory is shared with a thread that hashes it. */
  readonly #free: Buffer[] = []
  #buffer: Buffer | undefined
  #filled = 0

  constructor(store: ChunkStore) {
    this.#store = store
  }

  /** Copies bytes, and waits while enough segments are being stored. Throws the error of one that fails meanwhile. */
  async append(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      this.#buffer ??= this.#free.pop() ?? Buffer.from(new SharedArrayBuffer(SEGMENT_BYTES))
      const piece = bytes.subarray(done, done + SEGMENT_BYTES - this.#filled)
      this.#buffer.set(piece, this.#filled)
      this.#filled += piece.length
      done += piece.length
      if (this.#filled === SEGMENT_BYTES) await this.#storeSegment()
    }
  }

  /** Stores the rest; returns the chunks of the stream. Throws the error of a segment that failed. */
  async finish(): Promise<BlobRef[]> {
    await this.#storeSegment()
    return (await Promise.all(this.#results)).flat()
  }

  /** Begins to store the filled part of the buffer, and waits while too many segments are being stored. */
  async #storeSegment(): Promise<void> {
    const [buffer, filled] = [this.#buffer, this.#filled]
    if (buffer === undefined || filled === 0) return
    this.#buffer = undefined
    this.#filled = 0
    const chunks: Uint8Array[] = []
    for (let start = 0; start < filled; start += CHUNK_BYTES)
      chunks.push(buffer.subarray(start, Math.min(filled, start + CHUNK_BYTES)))
    const result = this.#store.store(chunks)
    this.#results.push(result)
    const running = result.finally(() => {
      this.#running.delete(running)
      this.#free.push(buffer)
    })
    this.#running.add(running)
    running.catch(() => {})
    while (this.#running.size >= this.#store.concurrency) await Promise.race(this.#running)
  }
}
