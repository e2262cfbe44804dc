import { concatBytes } from '../bytes.ts'
import type { CallContext, FileSystem } from '../file-system.ts'

/** Reads parts of a file. A sequential read costs only its part; a native range read costs the same anywhere. */
export class PartReader {
  readonly #fs: FileSystem
  readonly #getPath: () => string
  readonly #ctx: CallContext | undefined
  #stream: AsyncIterator<Uint8Array> | undefined
  /** Position of the stream, and bytes read ahead. */
  #position = 0
  #rest: Uint8Array = new Uint8Array(0)
  #lastRead: Promise<unknown> = Promise.resolve()

  /** @param getPath called before each read, since a file may be renamed while it is open. */
  constructor(fs: FileSystem, getPath: () => string, ctx?: CallContext) {
    this.#fs = fs
    this.#getPath = getPath
    this.#ctx = ctx
  }

  /**
   * Returns a part of the content, shorter only at the end of the file.
   * @param ctx used for a native range read. A stream outlives the call, so it has the context of the reader.
   */
  read(position: number, length: number, ctx?: CallContext): Promise<Uint8Array> {
    if (this.#fs.capabilities.has('native-read')) return this.#readRange(position, length, ctx ?? this.#ctx)
    // A sequential read continues the same stream; otherwise every part would cost the whole file.
    const part = this.#lastRead.then(() => this.#readFromStream(position, length))
    this.#lastRead = part.catch(() => this.close())
    return part
  }

  /** Releases the stream. The next read opens a new one. */
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
    return concatBytes(await Array.fromAsync(part))
  }

  async #readFromStream(position: number, length: number): Promise<Uint8Array> {
    const stream = await this.#seekStream(position)
    const chunks = [this.#rest]
    let taken = this.#rest.length
    while (taken < length) {
      const { done, value } = await stream.next()
      if (done) {
        // The file may grow, so the next read reopens the stream.
        this.#stream = undefined
        break
      }
      chunks.push(value)
      taken += value.length
    }
    const bytes = concatBytes(chunks)
    this.#rest = bytes.subarray(length)
    this.#position = position + Math.min(length, bytes.length)
    return bytes.subarray(0, length)
  }

  /** Returns a stream whose next byte is at a position. */
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
