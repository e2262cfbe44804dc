import type { SyncFileHandle, SyncStat } from '../../vfs/index.ts'
import type { BlockingChannel } from './blocking-channel.ts'
import { PIECE_BYTES } from './thread-channel.ts'

/** An open file of another thread. Large transfers go in pieces, so that no thread buffers the whole twice. */
export class RemoteHandle implements SyncFileHandle {
  readonly #channel: BlockingChannel
  readonly #file: number
  #isClosed = false

  constructor(channel: BlockingChannel, file: number) {
    this.#channel = channel
    this.#file = file
  }

  read(position: number, length: number): Uint8Array {
    const first = this.#readPiece(position, length)
    if (first.length < PIECE_BYTES || length === first.length) return first
    const pieces = [first]
    let total = first.length
    while (total < length) {
      const piece = this.#readPiece(position + total, length - total)
      if (piece.length === 0) break
      pieces.push(piece)
      total += piece.length
    }
    return Buffer.concat(pieces)
  }

  write(position: number, bytes: Uint8Array): void {
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
      // Not `slice`: of a `Buffer` that is a view, which would be sent with the whole underlying buffer.
      const piece = new Uint8Array(bytes.subarray(start, start + PIECE_BYTES))
      this.#channel.call('writeOpen', [this.#file, position + start, piece])
    }
  }

  truncate(size: number): void {
    this.#channel.call('truncateOpen', [this.#file, size])
  }

  stat(): SyncStat {
    return this.#channel.call('statOpen', [this.#file])
  }

  sync(): void {
    this.#channel.call('syncOpen', [this.#file])
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#channel.call('closeOpen', [this.#file])
  }

  #readPiece(position: number, length: number): Uint8Array {
    return this.#channel.call('readOpen', [this.#file, position, Math.min(length, PIECE_BYTES)])
  }
}
