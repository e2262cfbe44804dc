/** More than this is never told at once, whatever was asked for. */
export const MAX_TEXT_CHARACTERS: number = 4 * 1024 * 1024

/** So many lines are held as they came; each may keep alive the whole block of a file it is a part of. */
const MAX_UNJOINED_LINES = 64

/** Lines for the model, up to a limit: what is left out is said, and how to get it. */
export class TextOutput {
  /** Lines joined to texts of their own, and those that came last. */
  readonly #joined: string[] = []
  #unjoined: string[] = []
  #count = 0
  #characters = 0
  #isFull = false

  /** Whether a further line would be left out. */
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

  /** All of it; `more` is said in a last line if something was left out, `none` if there is nothing. */
  toText(none: string, more: string): string {
    const lines = [...this.#joined, ...this.#unjoined, ...(this.#isFull ? [more] : [])]
    return this.#count === 0 && !this.#isFull ? none : lines.join('\n')
  }
}

/** A line with its number in front, as an editor shows it. */
export function formatNumberedLine(number: number, line: string): string {
  return `${String(number).padStart(6)}\t${line}`
}
