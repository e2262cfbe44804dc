import { MemoryError } from './memory-error.ts'
import { formatNumberedLines } from './numbered-lines.ts'

const LINES_AROUND = 2

/** A text after a replacement, and the excerpt for the model. */
export interface ReplacedText {
  readonly text: string
  readonly snippet: string
}

/** Replaces a text that occurs exactly once. MemoryError lists the lines if there are several. */
export function replaceOnce(
  text: string,
  old: string,
  replacement: string,
  displayPath: string,
): ReplacedText {
  const offsets = findMatches(text, old)
  const [at] = offsets
  if (at === undefined) {
    throw new MemoryError(
      `No replacement was performed, old_str \`${old}\` did not appear verbatim in ${displayPath}.`,
    )
  }
  if (offsets.length > 1) {
    const lines = new Set(offsets.map((offset) => getLineIndex(text, offset) + 1))
    const where = `Multiple occurrences of old_str \`${old}\` in lines: ${[...lines].join(', ')}`
    throw new MemoryError(`No replacement was performed. ${where}. Please ensure it is unique`)
  }
  const changed = text.slice(0, at) + replacement + text.slice(at + old.length)
  const [first, last] = [getLineIndex(changed, at), getLineIndex(changed, at + replacement.length)]
  const start = Math.max(0, first - LINES_AROUND)
  const around = changed.split('\n').slice(start, last + 1 + LINES_AROUND)
  return { text: changed, snippet: formatNumberedLines(around, start + 1) }
}

/** Inserts lines after a line, 0 being the beginning. MemoryError if there is no such line. */
export function insertLines(text: string, line: number, added: string): string {
  const lines = text.split('\n')
  if (line < 0 || line > lines.length) {
    const range = `It should be within the range of lines of the file: [0, ${lines.length}]`
    throw new MemoryError(`Invalid \`insert_line\` parameter: ${line}. ${range}`)
  }
  return lines.toSpliced(line, 0, added.replace(/\n$/, '')).join('\n')
}

/** Finds all matches; an empty text has none. */
function findMatches(text: string, part: string): number[] {
  const offsets: number[] = []
  if (part === '') return offsets
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) offsets.push(at)
  return offsets
}

function getLineIndex(text: string, offset: number): number {
  let line = 0
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++
  return line
}
