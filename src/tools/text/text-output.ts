/** Limit of one output, whatever was requested. */
export const MAX_TEXT_CHARACTERS: number = 4 * 1024 * 1024

/** Limit of unjoined lines; each may keep a whole block of its file alive. */
const MAX_UNJOINED_LINES = 64

/** Lines for the model, up to a limit; a note says what was left out and how to get it. */
export class TextOutput {
  /** Lines joined so far; `#unjoined` has the most recent ones. */
  readonly #joined: string[] = []
  #unjoined: string[] = []
  #count = 0
  #characters = 0
  #isFull = false

  /** True once a line was left out; further ones are too. */
  get isFull(): boolean {
    return this.#isFull
  }

  get count(): number {
    return this.#count
  }

  add(line: string): void {
    this.#isFull ||= this.#characters + line.length > MAX_TEXT_CHARACTERS
    if (this.#isFull) return
    this.#characters += line.length + 1
    this.#count++
    this.#unjoined.push(line)
    if (this.#unjoined.length < MAX_UNJOINED_LINES) return
    this.#joined.push(this.#unjoined.join('\n'))
    this.#unjoined = []
  }

  /** Returns the text; `more` is appended if something was left out, `none` stands for nothing. */
  toText(none: string, more: string): string {
    const lines = [...this.#joined, ...this.#unjoined, ...(this.#isFull ? [more] : [])]
    return this.#count === 0 && !this.#isFull ? none : lines.join('\n')
  }
}

/** Formats a line with its number, as an editor shows it. */
export function formatNumberedLine(number: number, line: string): string {
  return `${String(number).padStart(6)}\t${line}`
}
