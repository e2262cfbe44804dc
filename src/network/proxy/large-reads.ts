import type { OnReadOpts } from 'node:net'

/**
 * Bytes read at once from a server, into memory that is used again. It begins with as much as Node reads by
 * itself, and grows when a read fills it: fewer and larger reads move several times as much.
 */
const [FIRST_READ_BYTES, MAX_READ_BYTES] = [64 * 1024, 1024 * 1024]
const GROWTH = 4

/** Reads of a server's socket into one buffer. */
export class LargeReads {
  /** Options of the socket, which has to be paused until somebody takes what is read. */
  readonly onread: OnReadOpts
  #buffer = Buffer.allocUnsafeSlow(FIRST_READ_BYTES)

  /** @param take receives bytes in memory that is used again. Returns false to stop reading. */
  constructor(take: (chunk: Buffer) => boolean) {
    this.onread = {
      buffer: () => this.#buffer,
      callback: (count, buffer) => {
        if (count === buffer.length) this.#grow()
        return take(Buffer.from(buffer.buffer, buffer.byteOffset, count))
      },
    }
  }

  #grow(): void {
    if (this.#buffer.length < MAX_READ_BYTES)
      this.#buffer = Buffer.allocUnsafeSlow(this.#buffer.length * GROWTH)
  }
}
