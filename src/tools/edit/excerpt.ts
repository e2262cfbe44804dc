import { beginning } from '../text/character-cut.ts'
import { numbered } from '../text/text-output.ts'
import type { Edited } from './line-edit.ts'
import { splitLines, startOfLine } from './text-lines.ts'

const AROUND = 2
const MAX_LINES = 20
const MAX_LINE_CHARACTERS = 500

/** The edited place with a little around it, numbered, so that the model sees what it did. */
export function excerptOf({ text, first, count }: Edited): string {
  const from = Math.max(1, first - AROUND)
  const wanted = first + count + AROUND - from
  const start = startOfLine(text, from)
  const rest = text.slice(start)
  const lines = splitLines(rest.slice(0, startOfLine(rest, Math.min(wanted, MAX_LINES) + 1)))
  const told = lines.map((line, index) => numbered(from + index, shortened(line)))
  return [...told, ...(wanted > MAX_LINES ? [`… (${wanted - MAX_LINES} lines more)`] : [])].join('\n')
}

function shortened(line: string): string {
  return line.length > MAX_LINE_CHARACTERS ? `${beginning(line, MAX_LINE_CHARACTERS)} …` : line
}
