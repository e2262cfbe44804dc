import type { SyncFileHandle, SyncStat } from '../../vfs/index.ts'
import type { BlockingLine } from './blocking-line.ts'
import { PIECE_BYTES } from './line.ts'

/** An open file of another thread. What is large goes in pieces, so that no thread holds it twice. */
export class RemoteHandle implements SyncFileHandle {
  readonly #line: BlockingLine
  readonly #file: number
  #isClosed = false

  constructor(line: BlockingLine, file: number) {
    this.#line = line
    this.#file = file
  }

  read(position: number, length: number): Uint8Array {
    const first = this.#piece(position, length)
    if (first.length < PIECE_BYTES || length === first.length) return first
    const pieces = [first]
    let got = first.length
    while (got < length) {
      const piece = this.#piece(position + got, length - got)
      if (piece.length === 0) break
      pieces.push(piece)
      got += piece.length
    }
    return Buffer.concat(pieces)
  }

  write(position: number, bytes: Uint8Array): void {
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
      // Not by `slice`: of a `Buffer` that is a view, which would be sent with all of the buffer below it.
      const piece = new Uint8Array(bytes.subarray(start, start + PIECE_BYTES))
      this.#line.call('writeOpen', [this.#file, position + start, piece])
    }
  }

  truncate(size: number): void {
    this.#line.call('truncateOpen', [this.#file, size])
  }

  stat(): SyncStat {
    return this.#line.call('statOpen', [this.#file])
  }

  sync(): void {
    this.#line.call('syncOpen', [this.#file])
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#line.call('closeOpen', [this.#file])
  }

  #piece(position: number, length: number): Uint8Array {
    return this.#line.call('readOpen', [this.#file, position, Math.min(length, PIECE_BYTES)])
  }
}
