import { sliceStart } from '../text/character-cut.ts'
import { formatNumberedLine } from '../text/text-output.ts'
import type { EditedText } from './line-edit.ts'
import { countLines, getLineStart, splitLines } from './text-lines.ts'

const CONTEXT_LINES = 2
const MAX_LINES = 20
const MAX_LINE_CHARACTERS = 500

/** Formats the edited lines with some context, numbered, so that the model sees the effect. */
export function formatExcerpt({ text, first, count }: EditedText): string {
  const from = Math.max(1, first - CONTEXT_LINES)
  const rest = text.slice(getLineStart(text, from))
  const wanted = Math.min(first + count + CONTEXT_LINES - from, countLines(rest))
  const lines = splitLines(rest.slice(0, getLineStart(rest, Math.min(wanted, MAX_LINES) + 1)))
  const numbered = lines.map((line, index) => formatNumberedLine(from + index, truncateLine(line)))
  return [...numbered, ...(wanted > MAX_LINES ? [`… (${wanted - MAX_LINES} lines more)`] : [])].join('\n')
}

function truncateLine(line: string): string {
  return line.length > MAX_LINE_CHARACTERS ? `${sliceStart(line, MAX_LINE_CHARACTERS)} …` : line
}
