/** More than this is never told at once, whatever was asked for. */
export const MAX_TEXT_CHARACTERS: number = 4 * 1024 * 1024

/** So many lines are held as they came; each may keep alive the whole block of a file it is a part of. */
const LINES_APART = 64

/** Lines for the model, up to a limit: what is left out is said, and how to get it. */
export class TextOutput {
  /** Lines joined to texts of their own, and those that came last. */
  readonly #joined: string[] = []
  #apart: string[] = []
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
    this.#apart.push(line)
    if (this.#apart.length < LINES_APART) return
    this.#joined.push(this.#apart.join('\n'))
    this.#apart = []
  }

  /** All of it; `more` is said in a last line if something was left out, `none` if there is nothing. */
  text(none: string, more: string): string {
    const lines = [...this.#joined, ...this.#apart, ...(this.#isFull ? [more] : [])]
    return this.#count === 0 && !this.#isFull ? none : lines.join('\n')
  }
}

/** A line with its number in front, as an editor shows it. */
export function numbered(number: number, line: string): string {
  return `${String(number).padStart(6)}\t${line}`
}
