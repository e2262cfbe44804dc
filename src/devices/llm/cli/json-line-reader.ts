/** Limit of one line; no event of a model is longer. */
const MAX_LINE_CHARACTERS = 32 << 20

/** Splits a byte stream into lines of JSON objects. Skips other lines and remembers the last of them. */
export class JsonLineReader {
  readonly #decoder = new TextDecoder()
  readonly #onObject: (value: object) => void
  #partial: string[] = []
  #partialLength = 0
  #lastSkippedLine = ''

  constructor(onObject: (value: object) => void) {
    this.#onObject = onObject
  }

  /** The last line that was not a JSON object; empty if there was none. */
  get lastSkippedLine(): string {
    return this.#lastSkippedLine
  }

  /** Parses bytes. Throws a RangeError if a line exceeds the limit. */
  add(bytes: Uint8Array): void {
    const [first = '', ...others] = this.#decoder.decode(bytes, { stream: true }).split('\n')
    this.#extend(first)
    for (const text of others) {
      this.#finishLine()
      this.#extend(text)
    }
  }

  /** Parses the text after the last line break as a line. */
  end(): void {
    this.#extend(this.#decoder.decode())
    this.#finishLine()
  }

  #extend(text: string): void {
    this.#partialLength += text.length
    if (this.#partialLength > MAX_LINE_CHARACTERS) {
      throw new RangeError(`a line of more than ${MAX_LINE_CHARACTERS} characters`)
    }
    this.#partial.push(text)
  }

  #finishLine(): void {
    const line = this.#partial.join('').trim()
    this.#partial = []
    this.#partialLength = 0
    if (line === '') return
    const value = parseObject(line)
    if (value === undefined) this.#lastSkippedLine = line
    else this.#onObject(value)
  }
}

function parseObject(line: string): object | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
