/** Bytes to keep of either end of a line beyond the limit. */
const MAX_KEPT_BYTES = 1024
const NEWLINE = 0x0a

/** Both ends of a line beyond the limit. */
export interface TruncatedLine {
  readonly start: string
  readonly end: string
}

/** Returns both ends of a line, as for one beyond the limit. */
export function cutLine(line: string): TruncatedLine {
  return { start: line.slice(0, MAX_KEPT_BYTES), end: line.slice(-MAX_KEPT_BYTES) }
}

/** Splits a byte stream into lines. Of a line beyond the limit, keeps both ends. */
export class MessageLineReader {
  readonly #maxBytes: number
  /** Beginning of an incomplete line. */
  #partial: Uint8Array[] = []
  #size = 0
  /** Beginning of a line beyond the limit; `#partial` has its last bytes. */
  #start: Buffer | undefined

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Yields the lines that this piece completes. */
  *append(piece: Buffer): Generator<string | TruncatedLine> {
    let start = 0
    for (let end = piece.indexOf(NEWLINE); end !== -1; end = piece.indexOf(NEWLINE, start)) {
      const isWhole = this.#size === 0 && end - start <= this.#maxBytes
      if (!isWhole) this.#append(piece.subarray(start, end))
      const line = isWhole ? piece.toString('utf8', start, end) : this.#takeLine()
      start = end + 1
      yield line
    }
    if (start < piece.length) this.#append(piece.subarray(start))
  }

  /** Returns the text after the last line; undefined if there is none. */
  takeRest(): string | TruncatedLine | undefined {
    return this.#size === 0 ? undefined : this.#takeLine()
  }

  #append(part: Uint8Array): void {
    this.#partial.push(part)
    this.#size += part.length
    if (this.#size <= this.#maxBytes) return
    const all = Buffer.concat(this.#partial)
    this.#start ??= Buffer.from(all.subarray(0, MAX_KEPT_BYTES))
    this.#partial = [Buffer.from(all.subarray(-MAX_KEPT_BYTES))]
  }

  #takeLine(): string | TruncatedLine {
    const text = Buffer.concat(this.#partial).toString()
    const start = this.#start?.toString()
    this.#partial = []
    this.#size = 0
    this.#start = undefined
    return start === undefined ? text : { start, end: text }
  }
}
