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
  missing(bytes: number): number {
    return Math.max(0, bytes - this.#size())
  }

  /** Adds up to this many bytes, fewer on a full disk. */
  fill(bytes: number): void {
    const end = this.#size() + bytes
    const fd = openSync(this.#path, 'a', 0o600)
    try {
      // Not zeros: a file system that compresses would set no room aside for them.
      const noise = randomBytes(Math.min(CHUNK_BYTES, bytes))
      for (let at = this.#size(); at < end; ) at += writeSync(fd, noise, 0, Math.min(noise.length, end - at))
    } catch {
      // The disk is full: what was written counts.
    } finally {
      closeSync(fd)
    }
  }

  /** Gives this many bytes of it to whatever is written next. */
  give(bytes: number): void {
    const size = this.#size()
    if (size > bytes) truncateSync(this.#path, size - bytes)
    else this.release()
  }

  /** Gives all of it. */
  release(): void {
    rmSync(this.#path, { force: true })
  }

  #size(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
  }
}
