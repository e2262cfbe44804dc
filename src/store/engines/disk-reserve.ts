import { randomBytes } from 'node:crypto'
import { closeSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'

const CHUNK_BYTES = 1024 * 1024

/** Disk room that no other program can take: a file that is filled while there is room, and cut when room is needed. */
export class DiskReserve {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  /** How many bytes it lacks of a size. */
  countMissing(bytes: number): number {
    return Math.max(0, bytes - this.#getSize())
  }

  /** Adds up to this many bytes, fewer on a full disk. */
  growBy(bytes: number): void {
    const end = this.#getSize() + bytes
    const fd = openSync(this.#path, 'a', 0o600)
    try {
      // Not zeros: a file system that compresses would set no room aside for them.
      const noise = randomBytes(Math.min(CHUNK_BYTES, bytes))
      for (let at = this.#getSize(); at < end; )
        at += writeSync(fd, noise, 0, Math.min(noise.length, end - at))
    } catch {
      // The disk is full: what was written counts.
    } finally {
      closeSync(fd)
    }
  }

  /** Gives this many bytes of it to whatever is written next. */
  shrinkBy(bytes: number): void {
    const size = this.#getSize()
    if (size > bytes) truncateSync(this.#path, size - bytes)
    else this.remove()
  }

  /** Gives all of it. */
  remove(): void {
    rmSync(this.#path, { force: true })
  }

  #getSize(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
  }
}
