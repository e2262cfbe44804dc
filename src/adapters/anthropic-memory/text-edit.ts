import { MemoryError } from './memory-error.ts'
import { formatNumberedLines } from './numbered-lines.ts'

const LINES_AROUND = 2

/** A text after a replacement, and the excerpt for the model. */
export interface ReplacedText {
  readonly text: string
  readonly snippet: string
}

/** Replaces a text that occurs exactly once. MemoryError if it occurs nowhere, or more often, with the lines. */
export function replaceOnce(
  text: string,
  old: string,
  replacement: string,
  displayPath: string,
): ReplacedText {
  const offsets = findMatches(text, old)
  const [offset] = offsets
  if (offset === undefined) {
    throw new MemoryError(
      `No replacement was performed, old_str \`${old}\` did not appear verbatim in ${displayPath}.`,
    )
  }
  if (offsets.length > 1) {
    const lines = new Set(offsets.map((offset) => getLineIndex(text, offset) + 1))
    const occurrences = `Multiple occurrences of old_str \`${old}\` in lines: ${[...lines].join(', ')}`
    throw new MemoryError(`No replacement was performed. ${occurrences}. Please ensure it is unique`)
  }
  const changed = text.slice(0, offset) + replacement + text.slice(offset + old.length)
  const [first, last] = [getLineIndex(changed, offset), getLineIndex(changed, offset + replacement.length)]
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

/** Finds the offsets of all matches, also overlapping ones; an empty part has none. */
function findMatches(text: string, part: string): number[] {
  const offsets: number[] = []
  if (part === '') return offsets
  for (let offset = text.indexOf(part); offset !== -1; offset = text.indexOf(part, offset + 1))
    offsets.push(offset)
  return offsets
}

function getLineIndex(text: string, offset: number): number {
  let line = 0
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', end + 1)) line++
  return line
}
