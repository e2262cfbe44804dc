import type { InodeAppend } from './inode-fs.ts'

/** Minimum page size in bytes. The kernel splits a write at the end of a page that it has cached in part. */
const PAGE_BYTES = 4096
/** Limit of a remembered piece, which is copied. */
const MAX_PIECE_BYTES = 64 * 1024
/** Limit of remembered files; enough for concurrent appends. */
const MAX_FILES = 64

interface SplitAppend extends InodeAppend {
  /** Position of the next piece, as the kernel counts. */
  readonly next: number
}

/**
 * Appends that may continue in another request: the kernel splits them at a page that it has cached in part.
 * Nothing in the first piece shows that. Appends by others must not come between the pieces.
 */
export class SplitAppends {
  readonly #pieces = new Map<number, SplitAppend>()

  /** Removes and returns the piece that ends at this position, as the kernel counts. */
  takePiece(ino: number, position: number): InodeAppend | undefined {
    const piece = this.#pieces.get(ino)
    this.#pieces.delete(ino)
    return piece?.next === position ? piece : undefined
  }

  /**
   * Remembers a piece if it ends at a page boundary.
   * @param position where it starts as the kernel counts.
   * @param actualPosition where it starts in the file.
   */
  recordPiece(ino: number, position: number, actualPosition: number, bytes: Buffer): void {
    const next = position + bytes.length
    if (next % PAGE_BYTES !== 0 || bytes.length > MAX_PIECE_BYTES) return
    const [oldest] = this.#pieces.keys()
    if (this.#pieces.size >= MAX_FILES && oldest !== undefined) this.#pieces.delete(oldest)
    this.#pieces.set(ino, { next, position: actualPosition, bytes: Buffer.from(bytes) })
  }
}
