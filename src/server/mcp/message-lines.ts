/** How much is kept of either end of a line that is too long. */
const KEPT_BYTES = 1024

/** What is left of a line that was too long to be kept. */
export interface CutLine {
  readonly start: string
  readonly end: string
}

/** Returns both ends of a line, as of one that is too long. */
export function cutLine(line: string): CutLine {
  return { start: line.slice(0, KEPT_BYTES), end: line.slice(-KEPT_BYTES) }
}

/** Puts a stream of bytes together into lines. Of one that is longer than a limit, both ends are kept. */
export class MessageLines {
  readonly #maxBytes: number
  /** The beginning of a line whose end is still to come. */
  #begun: Uint8Array[] = []
  #size = 0
  /** The beginning of one that is already too long; its last bytes are what has begun. */
  #start: Buffer | undefined

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The lines that are complete with this piece. */
  *append(piece: Uint8Array): Generator<string | CutLine> {
    let start = 0
    for (let end = piece.indexOf(0x0a); end !== -1; end = piece.indexOf(0x0a, start)) {
      this.#keep(piece.subarray(start, end))
      start = end + 1
      yield this.#taken()
    }
    if (start < piece.length) this.#keep(piece.subarray(start))
  }

  /** What came after the last line; undefined if nothing did. */
  rest(): string | CutLine | undefined {
    return this.#size === 0 ? undefined : this.#taken()
  }

  #keep(part: Uint8Array): void {
    this.#begun.push(part)
    this.#size += part.length
    if (this.#size <= this.#maxBytes) return
    const all = Buffer.concat(this.#begun)
    this.#start ??= Buffer.from(all.subarray(0, KEPT_BYTES))
    this.#begun = [Buffer.from(all.subarray(-KEPT_BYTES))]
  }

  #taken(): string | CutLine {
    const text = Buffer.concat(this.#begun).toString()
    const start = this.#start?.toString()
    this.#begun = []
    this.#size = 0
    this.#start = undefined
    return start === undefined ? text : { start, end: text }
  }
}
