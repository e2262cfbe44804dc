/** One line that says what is going on, on a terminal only: in a log it would be noise. */
export class Progress {
  readonly #stream: NodeJS.WriteStream

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream
  }

  show(text: string): void {
    if (!this.#stream.isTTY) return
    this.clear()
    this.#stream.write(text.slice(0, this.#stream.columns - 1))
  }

  clear(): void {
    if (!this.#stream.isTTY) return
    this.#stream.cursorTo(0)
    this.#stream.clearLine(0)
  }
}
