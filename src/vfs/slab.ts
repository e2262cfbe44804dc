import { markAsUntransferable, markAsUntransferableLater, takePooledBytes } from './runtime.ts'

const SLAB_BYTES = 64 * 1024
/** Larger copies get their own memory: a slab saves them little, and they would pin it. */
const MAX_POOLED_BYTES = 4 * 1024
/** Size of a slab for returned bytes, which is a piece of the runtime's pool itself. */
const RETURNED_SLAB_BYTES = 16 * 1024

/**
 * Makes small copies cheap: allocating a typed array costs microseconds, a piece of a slab a tenth of one. A piece
 * keeps its slab alive. Stored bytes and returned bytes come from different slabs, so that a reader of a chunk's
 * underlying buffer never holds a stored file.
 */
export class Slab {
  #bytes: Uint8Array = new Uint8Array(0)
  #used = 0
  readonly #allocateSlab: () => Uint8Array
  readonly #buffers = new WeakSet<ArrayBufferLike>()

  private constructor(allocateSlab: () => Uint8Array) {
    this.#allocateSlab = allocateSlab
  }

  /** Creates a slab for bytes that are stored. */
  static forStored(): Slab {
    return new Slab(allocateForStored)
  }

  /** Creates a slab for bytes that callers get. */
  static forReturned(): Slab {
    return new Slab(allocateForReturned)
  }

  /** Reports whether bytes are a piece of this slab, or of an earlier one of the same owner. */
  hasPiece({ buffer }: Uint8Array): boolean {
    return this.#buffers.has(buffer)
  }

  /** Returns a copy of bytes; a small one is a piece of the slab. */
  copy(bytes: Uint8Array): Uint8Array {
    const { length } = bytes
    if (length > MAX_POOLED_BYTES) return new Uint8Array(bytes)
    const start = this.#used + length > this.#bytes.length ? this.#replace() : this.#used
    this.#used = start + length
    const slab = this.#bytes
    slab.set(bytes, start)
    return new Uint8Array(slab.buffer, slab.byteOffset + start, length)
  }

  #replace(): number {
    this.#bytes = this.#allocateSlab()
    this.#buffers.add(this.#bytes.buffer)
    return 0
  }
}

/**
 * Allocates a slab for stored bytes. Transferring one piece to another thread would detach all the others. Nobody gets a
 * stored piece, so there is time to prevent that.
 */
function allocateForStored(): Uint8Array {
  const slab = new Uint8Array(SLAB_BYTES)
  markAsUntransferableLater(slab.buffer)
  return slab
}

function allocateForReturned(): Uint8Array {
  const pooled = takePooledBytes(RETURNED_SLAB_BYTES)
  if (pooled !== undefined) return pooled
  const slab = new Uint8Array(SLAB_BYTES)
  markAsUntransferable(slab.buffer)
  return slab
}
