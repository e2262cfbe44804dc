import type { EditRefusal } from './edit-refusal.ts'
import { countLines, getLineEnding, getLineStart, splitLines } from './text-lines.ts'

/** An operation on whole lines; lines count from 1, `end` is included. */
export type LineEdit =
  | {
      readonly operation: 'replace_lines'
      readonly start: number
      readonly end: number
      readonly content: string
    }
  | {
      readonly operation: 'insert_before' | 'insert_after'
      readonly start: number
      readonly content: string
    }
  | { readonly operation: 'delete_lines'; readonly start: number; readonly end: number }

/** A text after an edit, and its new lines: `count` lines from `first` on. */
export interface EditedText {
  readonly text: string
  readonly first: number
  readonly count: number
}

/**
 * Applies a line operation. New lines end as the lines around them do, and the text ends with a newline if and only if
 * it did before. The content is lines as a file has them: `''` is none, `'a'` and `'a\n'` are one, `'\n'` a blank one.
 */
export function editLines(text: string, edit: LineEdit): EditedText | EditRefusal {
  const { first, next } = getLineRange(edit)
  const last = Math.max(edit.start, next - 1)
  const count = countLines(text)
  if (last > count) return { refusal: formatOutOfRange(last, count) }
  const from = getLineStart(text, first)
  const lineEnding = getLineEnding(text, getLineStart(text, edit.start))
  const added = 'content' in edit ? splitLines(edit.content) : []
  const before = text.slice(0, from)
  // A last line without an end gets one if another line follows now.
  const joint = added.length > 0 && before !== '' && !before.endsWith('\n') ? lineEnding : ''
  const start = before + joint + added.map((line) => line + lineEnding).join('')
  const rest = text.slice(getLineStart(text, next))
  const endsWithoutNewline = rest === '' && !text.endsWith('\n')
  return { text: endsWithoutNewline ? start.replace(/\r?\n$/, '') : start + rest, first, count: added.length }
}

/** Returns the replaced lines: from `first` up to, but without, `next`. */
function getLineRange(edit: LineEdit): { first: number; next: number } {
  if (edit.operation === 'replace_lines' || edit.operation === 'delete_lines') {
    return { first: edit.start, next: edit.end + 1 }
  }
  const line = edit.operation === 'insert_before' ? edit.start : edit.start + 1
  return { first: line, next: line }
}

function formatOutOfRange(line: number, count: number): string {
  if (count === 0) return 'the file is empty and has no lines; use write_file'
  return `there is no line ${line}: the file has ${count === 1 ? '1 line' : `${count} lines`}`
}
