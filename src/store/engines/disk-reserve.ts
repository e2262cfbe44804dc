import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs'

const CHUNK_BYTES = 1024 * 1024

/**
 * Room on the disk that nobody else can take: a file full of zeros. Whoever has acknowledged something that is not
 * committed yet can give it up, and has room to commit that on a full disk.
 */
export class DiskReserve {
  readonly #path: string
  readonly #bytes: number

  constructor(path: string, bytes: number) {
    this.#path = path
    this.#bytes = bytes
  }

  /** Makes it unless it is there; false if the disk has no room for it. */
  make(): boolean {
    if (statSync(this.#path, { throwIfNoEntry: false })?.size === this.#bytes) return true
    try {
      this.#fill()
      return true
    } catch {
      this.release()
      return false
    }
  }

  /** Gives its room to whatever is written next. */
  release(): void {
    rmSync(this.#path, { force: true })
  }

  #fill(): void {
    const fd = openSync(this.#path, 'w', 0o600)
    try {
      const zeros = new Uint8Array(CHUNK_BYTES)
      for (let at = 0; at < this.#bytes; ) {
        at += writeSync(fd, zeros, 0, Math.min(CHUNK_BYTES, this.#bytes - at), at)
      }
    } finally {
      closeSync(fd)
    }
  }
}
