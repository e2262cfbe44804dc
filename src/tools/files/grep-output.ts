import { sliceStart, truncateText } from '../text/character-cut.ts'
import { escapeUnprintable } from '../text/escape-unprintable.ts'
import { MAX_TEXT_CHARACTERS, TextOutput } from '../text/text-output.ts'

/** Longer lines are cut: whoever needs the rest can ask for the line. */
const MAX_SHOWN_CHARACTERS = 1000
/** What a message repeats of a pattern or a place: it is never long enough to be kept instead of told. */
const MAX_REPEATED_CHARACTERS = 300

/** Matches as the model reads them: `>` marks a match, `--` stands between groups, a file has its name above. */
export class GrepOutput {
  readonly #output = new TextOutput()
  #file: string | undefined
  #last = 0
  #matches = 0
  #files = 0

  get isFull(): boolean {
    return this.#output.isFull
  }

  get matches(): number {
    return this.#matches
  }

  /** The number of the last line shown of the file; 0 before the first. */
  get last(): number {
    return this.#last
  }

  /** What follows is of this file. */
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

  /** A line near a match; one that was shown already is not shown again. */
  addContext(number: number, line: string): void {
    if (number > this.#last) this.#add(' ', number, line)
  }

  /** All of it, with a line on top that says how much was found, and one on lines that were not searched to their end. */
  toText(pattern: string, place: string, unfinished: number): string {
    return [
      this.#formatMatches(pattern, place),
      ...(unfinished > 0 ? [formatUnfinished(unfinished)] : []),
    ].join('\n')
  }

  #formatMatches(pattern: string, place: string): string {
    if (this.#matches === 0) {
      const [what, where] = [pattern, place].map((text) => truncateText(text, MAX_REPEATED_CHARACTERS))
      return escapeUnprintable(`no line matches '${what}' in ${where}`)
    }
    const files = this.#files === 0 ? '' : ` in ${formatCount(this.#files, 'file')}`
    const more = `… (cut at ${MAX_TEXT_CHARACTERS} characters; search for less, or in a smaller place)`
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
