import { sliceStart, truncateText } from '../text/character-cut.ts'
import { escapeUnprintable } from '../text/escape-unprintable.ts'
import { MAX_TEXT_CHARACTERS, TextOutput } from '../text/text-output.ts'

/** Limit of a shown line; longer ones are cut. */
const MAX_SHOWN_CHARACTERS = 1000
/** Limit of a pattern or path repeated in a message, which must stay short enough not to be cached. */
const MAX_REPEATED_CHARACTERS = 300

/** Formats matches for the model: `>` marks a match, `--` separates groups, a file has its name above. */
export class GrepOutput {
  readonly #output = new TextOutput()
  #file: string | undefined
  /** Number of the last line shown of the file; 0 before the first. */
  #last = 0
  #matches = 0
  #files = 0

  get isFull(): boolean {
    return this.#output.isFull
  }

  get matches(): number {
    return this.#matches
  }

  /** Starts the output of a file. */
  startFile(file: string): void {
    if (this.#file === file) return
    if (this.#file !== undefined) this.#output.add('')
    this.#output.add(file)
    this.#file = file
    this.#last = 0
    this.#files++
  }

  addMatch(number: number, line: string): void {
    this.#matches++
    this.#add('>', number, line)
  }

  /** Adds a line near a match, unless it was shown already. */
  addContext(number: number, line: string): void {
    if (number > this.#last) this.#add(' ', number, line)
  }

  /** Returns the text: the number of matches, the lines, and a note on lines that were not searched to their end. */
  toText(pattern: string, displayPath: string, unfinished: number): string {
    return [
      this.#formatMatches(pattern, displayPath),
      ...(unfinished > 0 ? [formatUnfinished(unfinished)] : []),
    ].join('\n')
  }

  #formatMatches(pattern: string, displayPath: string): string {
    if (this.#matches === 0) {
      const [what, where] = [pattern, displayPath].map((text) => truncateText(text, MAX_REPEATED_CHARACTERS))
      return escapeUnprintable(`no line matches '${what}' in ${where}`)
    }
    const files = this.#files === 0 ? '' : ` in ${formatCount(this.#files, 'file')}`
    const more = `… (cut at ${MAX_TEXT_CHARACTERS} characters; use a narrower pattern or a smaller directory)`
    return `${formatCount(this.#matches, 'matching line')}${files}\n${this.#output.toText('', more)}`
  }

  #add(mark: string, number: number, line: string): void {
    if (this.#last > 0 && number > this.#last + 1) this.#output.add('--')
    this.#last = number
    this.#output.add(`${mark} ${number}: ${truncateLine(line)}`)
  }
}

function truncateLine(line: string): string {
  const rest = line.length - MAX_SHOWN_CHARACTERS
  return rest > 0 ? `${sliceStart(line, MAX_SHOWN_CHARACTERS)} … (${rest} characters more)` : line
}

function formatUnfinished(lines: number): string {
  return `(${formatCount(lines, 'line')} too long to be searched to the end with this pattern; try a simpler one, without ^ and $)`
}

function formatCount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
