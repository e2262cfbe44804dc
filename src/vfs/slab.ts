import { markAsUntransferable } from 'node:worker_threads'

const SLAB_BYTES = 64 * 1024
/** Larger contents get memory of their own: a slab would save them little and could be pinned by them. */
const MAX_POOLED_BYTES = 4 * 1024

/**
 * Makes small copies cheap: a fresh kilobyte of typed array costs microseconds, a piece of a slab a tenth of one.
 * A piece keeps its slab alive. What is stored and what is handed out come from different slabs, so that nobody who
 * holds a chunk's underlying buffer holds a file's.
 */
export class Slab {
  #buffer = new Uint8Array(0)
  #used = 0

  copy(bytes: Uint8Array): Uint8Array {
    if (bytes.length > MAX_POOLED_BYTES) return new Uint8Array(bytes)
    const start = this.#used + bytes.length > this.#buffer.length ? this.#allocate() : this.#used
    this.#used = start + bytes.length
    const piece = this.#buffer.subarray(start, this.#used)
    piece.set(bytes)
    return piece
  }

  #allocate(): number {
    this.#buffer = new Uint8Array(SLAB_BYTES)
    // Whoever transferred one piece to another thread would empty all the others.
    markAsUntransferable(this.#buffer.buffer)
    return 0
  }
}
