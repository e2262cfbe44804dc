import { randomBytes } from 'node:crypto'
import { closeSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'

const CHUNK_BYTES = 1024 * 1024

/**
 * Disk space reserved for the store: a file that grows while the disk has space and shrinks when the store needs it.
 */
export class DiskReserve {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  /** Returns how many bytes the reserve lacks to this size. */
  countMissing(bytes: number): number {
    return Math.max(0, bytes - this.#getSize())
  }

  /** Grows by up to this many bytes, fewer on a full disk. */
  growBy(bytes: number): void {
    const end = this.#getSize() + bytes
    const fd = openSync(this.#path, 'a', 0o600)
    try {
      // Random bytes: a compressing file system reserves no space for zeros.
      const noise = randomBytes(Math.min(CHUNK_BYTES, bytes))
      for (let size = this.#getSize(); size < end; )
        size += writeSync(fd, noise, 0, Math.min(noise.length, end - size))
    } catch {
      // The disk is full: the reserve keeps what was written.
    } finally {
      closeSync(fd)
    }
  }

  /** Frees this many bytes for the next write. */
  shrinkBy(bytes: number): void {
    const size = this.#getSize()
    if (size > bytes) truncateSync(this.#path, size - bytes)
    else this.remove()
  }

  /** Frees the whole reserve. */
  remove(): void {
    rmSync(this.#path, { force: true })
  }

  #getSize(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
  }
}
