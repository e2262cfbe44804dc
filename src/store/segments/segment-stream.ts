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
  /** Buffers to fill again: a new one costs as much as its copy. */
  readonly #free: Buffer[] = []
  #buffer: Buffer | undefined
  #filled = 0

  constructor(store: ChunkStore) {
    this.#store = store
  }

  /** Copies bytes, and waits while enough segments are being stored. Throws the error of one that failed. */
  async append(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      this.#buffer ??= this.#free.pop() ?? Buffer.allocUnsafeSlow(SEGMENT_BYTES)
      const piece = bytes.subarray(at, at + SEGMENT_BYTES - this.#filled)
      this.#buffer.set(piece, this.#filled)
      this.#filled += piece.length
      at += piece.length
      if (this.#filled === SEGMENT_BYTES) await this.#seal()
    }
  }

  /** Stores the rest; returns the chunks of the stream. */
  async finish(): Promise<BlobRef[]> {
    await this.#seal()
    return (await Promise.all(this.#results)).flat()
  }

  async #seal(): Promise<void> {
    const [buffer, filled] = [this.#buffer, this.#filled]
    if (buffer === undefined || filled === 0) return
    this.#buffer = undefined
    this.#filled = 0
    const chunks: Uint8Array[] = []
    for (let at = 0; at < filled; at += CHUNK_BYTES)
      chunks.push(buffer.subarray(at, Math.min(filled, at + CHUNK_BYTES)))
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
