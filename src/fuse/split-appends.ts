import type { InodeAppend } from './inode-fs.ts'

/** The kernel cuts a write where a page ends of which it has only a part; a page has at least so many bytes. */
const PAGE_BYTES = 4096
const MAX_PIECE_BYTES = 64 * 1024
/** As many are remembered as programs append to at the same moment. */
const MAX_FILES = 64

interface SplitAppend extends InodeAppend {
  /** Where the kernel would put the next piece. */
  readonly next: number
}

/**
 * Appends that may go on in another request: the kernel cuts one where a page ends that it does not know whole, and
 * nothing in the first piece says so. What others append in between must not come between the pieces.
 */
export class SplitAppends {
  readonly #pieces = new Map<number, SplitAppend>()

  /** The piece that bytes from a position on continue, as the kernel counts; it is asked for once. */
  takePiece(ino: number, position: number): InodeAppend | undefined {
    const piece = this.#pieces.get(ino)
    this.#pieces.delete(ino)
    return piece?.next === position ? piece : undefined
  }

  /** Remembers a piece behind which a page ends for the kernel. @param at where it is in the file. */
  recordPiece(ino: number, position: number, at: number, bytes: Buffer): void {
    const next = position + bytes.length
    if (next % PAGE_BYTES !== 0 || bytes.length > MAX_PIECE_BYTES) return
    const [oldest] = this.#pieces.keys()
    if (this.#pieces.size >= MAX_FILES && oldest !== undefined) this.#pieces.delete(oldest)
    this.#pieces.set(ino, { next, position: at, bytes: Buffer.from(bytes) })
  }
}
