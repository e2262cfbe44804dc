/** Puts a stream of bytes together into lines, none of which may be longer than a limit. */
export class MessageLines {
  readonly #maxBytes: number
  /** The beginning of a line whose end is still to come. */
  #begun: Uint8Array[] = []
  #size = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The lines that are complete with this piece. Throws for a line that is too long: what follows it is lost. */
  *append(piece: Uint8Array): Generator<string> {
    let start = 0
    for (let end = piece.indexOf(0x0a); end !== -1; end = piece.indexOf(0x0a, start)) {
      this.#keep(piece.subarray(start, end))
      start = end + 1
      const line = Buffer.concat(this.#begun).toString()
      this.#forget()
      yield line
    }
    if (start < piece.length) this.#keep(piece.subarray(start))
  }

  #keep(part: Uint8Array): void {
    this.#size += part.length
    if (this.#size > this.#maxBytes) {
      this.#forget()
      throw new RangeError(`a message exceeds the maximum size of ${this.#maxBytes} bytes`)
    }
    this.#begun.push(part)
  }

  #forget(): void {
    this.#begun = []
    this.#size = 0
  }
}
