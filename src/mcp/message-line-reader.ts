/** How much is kept of either end of a line that is too long. */
const MAX_KEPT_BYTES = 1024

/** What is left of a line that was too long to be kept. */
export interface TruncatedLine {
  readonly start: string
  readonly end: string
}

/** Returns both ends of a line, as of one that is too long. */
export function cutLine(line: string): TruncatedLine {
  return { start: line.slice(0, MAX_KEPT_BYTES), end: line.slice(-MAX_KEPT_BYTES) }
}

/** Puts a stream of bytes together into lines. Of one that is longer than a limit, both ends are kept. */
export class MessageLineReader {
  readonly #maxBytes: number
  /** The beginning of a line whose end is still to come. */
  #partial: Uint8Array[] = []
  #size = 0
  /** The beginning of one that is already too long; its last bytes are what has begun. */
  #start: Buffer | undefined

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The lines that are complete with this piece. */
  *append(piece: Uint8Array): Generator<string | TruncatedLine> {
    let start = 0
    for (let end = piece.indexOf(0x0a); end !== -1; end = piece.indexOf(0x0a, start)) {
      this.#append(piece.subarray(start, end))
      start = end + 1
      yield this.#takeLine()
    }
    if (start < piece.length) this.#append(piece.subarray(start))
  }

  /** What came after the last line; undefined if nothing did. */
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
