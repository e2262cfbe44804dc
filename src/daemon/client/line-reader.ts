const NEWLINE = 0x0a

/** Splits a stream into lines; stops at one that is too long. */
export class LineReader {
  readonly #maxBytes: number
  #pieces: Buffer[] = []
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Returns the lines that are now complete; 'too long' once a line exceeds the limit. */
  add(chunk: Buffer): string[] | 'too long' {
    const lines: string[] = []
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      const line = this.#takeLine(chunk.subarray(from, at))
      if (line.length > this.#maxBytes) return 'too long'
      if (line.length > 0) lines.push(line.toString('utf8'))
      from = at + 1
    }
    const rest = chunk.subarray(from)
    this.#pieces.push(rest)
    this.#length += rest.length
    return this.#length > this.#maxBytes ? 'too long' : lines
  }

  #takeLine(last: Buffer): Buffer {
    const line = this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last])
    this.#pieces = []
    this.#length = 0
    return line
  }
}
