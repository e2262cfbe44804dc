/**
 * Lines of a text by position. No line becomes an object: a file of nothing but newlines has millions.
 * Only `\n` and `\r\n` end a line.
 */

/** Counts the lines of a text: a final newline begins no line. */
export function countLines(text: string): number {
  let count = text === '' || text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** Returns the start of a line, counted from 1; the end of the text beyond the last line. */
export function getLineStart(text: string, line: number): number {
  let start = 0
  for (let passed = 1; passed < line; passed++) {
    const newline = text.indexOf('\n', start)
    if (newline === -1) return text.length
    start = newline + 1
  }
  return start
}

/** Returns the number of the line at a position. */
export function getLineNumber(text: string, position: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < position; at = text.indexOf('\n', at + 1)) line++
  return line
}

/** Returns the line end at a position, or of the line before if there is none: the end for a new line there. */
export function getLineEnding(text: string, position: number): '\n' | '\r\n' {
  const next = text.indexOf('\n', position)
  const newline = next === -1 ? text.lastIndexOf('\n', position) : next
  return newline > 0 && text[newline - 1] === '\r' ? '\r\n' : '\n'
}

/** Splits lines without their ends: `''` is none, `'a'` and `'a\n'` are one, `'\n'` is a blank one. */
export function splitLines(text: string): string[] {
  if (text === '') return []
  return text.replace(/\r?\n$/, '').split(/\r?\n/)
}
