import { markAsUntransferable } from './runtime.ts'

const SLAB_BYTES = 64 * 1024
/** Larger copies get their own memory: a slab saves them little, and they would pin it. */
const MAX_POOLED_BYTES = 4 * 1024

/**
 * Makes small copies cheap: allocating a typed array costs microseconds, a piece of a slab a tenth of one. A piece
 * keeps its slab alive. Stored bytes and returned bytes come from different slabs, so that a reader of a chunk's
 * underlying buffer never holds a stored file.
 */
export class Slab {
  #buffer = new Uint8Array(0)
  #used = 0
  readonly #buffers = new WeakSet<ArrayBufferLike>()

  /** Reports whether bytes are a piece of this slab, or of an earlier one of the same owner. */
  hasPiece({ buffer }: Uint8Array): boolean {
    return this.#buffers.has(buffer)
  }

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
    this.#buffers.add(this.#buffer.buffer)
    // Transferring one piece to another thread would detach all the others.
    markAsUntransferable(this.#buffer.buffer)
    return 0
  }
}
