import type { CallContext, FileSystem } from '../file-system.ts'

/** Reads a file in parts, as whoever has it open does: a part costs that part, or what lies between it and the last. */
export class PartReader {
  readonly #fs: FileSystem
  readonly #getPath: () => string
  readonly #ctx: CallContext | undefined
  #stream: AsyncIterator<Uint8Array> | undefined
  /** Position of the stream, and bytes read ahead. */
  #position = 0
  #rest: Uint8Array = new Uint8Array(0)
  #lastRead: Promise<unknown> = Promise.resolve()

  /** @param pathOf asked before each read, since a file may get another name while it is open. */
  constructor(fs: FileSystem, pathOf: () => string, ctx?: CallContext) {
    this.#fs = fs
    this.#getPath = pathOf
    this.#ctx = ctx
  }

  /** A part of the content, shorter only at its end. */
  read(position: number, length: number, ctx?: CallContext): Promise<Uint8Array> {
    if (this.#fs.capabilities.has('native-read')) return this.#readRange(position, length, ctx ?? this.#ctx)
    // Whoever reads on gets more of the same stream; otherwise every part would cost the whole file.
    const part = this.#lastRead.then(() => this.#readFromStream(position, length))
    this.#lastRead = part.catch(() => this.close())
    return part
  }

  /** Lets go of what it reads from; the next read begins anew. */
  async close(): Promise<void> {
    const stream = this.#stream
    this.#stream = undefined
    await stream?.return?.()
  }

  async #readRange(position: number, length: number, ctx: CallContext | undefined): Promise<Uint8Array> {
    const part = this.#fs.read(
      this.#getPath(),
      { byteRange: [position, length], chunkSize: Math.max(1, length) },
      ctx,
    )
    return Buffer.concat(await Array.fromAsync(part))
  }

  async #readFromStream(position: number, length: number): Promise<Uint8Array> {
    const stream = await this.#seekStream(position)
    const chunks = [this.#rest]
    let taken = this.#rest.length
    while (taken < length) {
      const { done, value } = await stream.next()
      if (done) {
        // The file may grow, and whoever asks again means the new end.
        this.#stream = undefined
        break
      }
      chunks.push(value)
      taken += value.length
    }
    const bytes = Buffer.concat(chunks)
    this.#rest = bytes.subarray(length)
    this.#position = position + Math.min(length, bytes.length)
    return bytes.subarray(0, length)
  }

  /** A stream that gives what is at a position next. */
  async #seekStream(position: number): Promise<AsyncIterator<Uint8Array>> {
    if (this.#stream !== undefined && this.#position === position) return this.#stream
    await this.close()
    const byteRange = [position, Number.MAX_SAFE_INTEGER] as const
    const stream = this.#fs.read(this.#getPath(), { byteRange }, this.#ctx)[Symbol.asyncIterator]()
    this.#stream = stream
    this.#rest = new Uint8Array(0)
    return stream
  }
}
