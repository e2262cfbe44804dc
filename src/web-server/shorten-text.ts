import type { Redactor } from '../secrets/index.ts'
import type { WebText } from '../web-api/index.ts'

const MAX_TEXT = 16 * 1024
const MAX_SUMMARY = 200
const KEY_BEGIN = /-----BEGIN [A-Z ]*PRIVATE KEY-----/
const KEY_END = /-----END [A-Z ]*PRIVATE KEY-----/
const REDACTED_LINE = '[redacted]'

/** Returns the beginning of a text without secrets. They are taken out first: a part of one would not be recognised. */
export function shortenText(text: string, redactor: Redactor, max: number = MAX_TEXT): WebText {
  return cutText(redactor.redactText(text), max)
}

/** Returns the beginning of a text that is redacted already. */
export function cutText(text: string, max: number = MAX_TEXT): WebText {
  const isCut = text.length > max
  return { text: isCut ? text.slice(0, max).toWellFormed() : text, length: text.length, isCut }
}

/** Returns the first line of a text, shortened. */
export function toSummary(text: string, redactor: Redactor, max: number = MAX_SUMMARY): string {
  const [line = ''] = redactor.redactText(text).trim().split('\n', 1)
  return line.length > max ? `${line.slice(0, max).toWellFormed()}…` : line
}

/** Takes the secrets out of lines, so that each keeps its number. */
export function redactLines(lines: readonly string[], redactor: Redactor): readonly string[] {
  const text = lines.join('')
  const clean = redactor.redactText(text)
  if (clean === text) return lines
  let isKey = false
  return lines.map((line) => {
    if (KEY_BEGIN.test(line)) isKey = true
    const isHidden = isKey
    if (KEY_END.test(line)) isKey = false
    const end = line.endsWith('\n') ? '\n' : ''
    return isHidden ? REDACTED_LINE + end : redactor.redactText(line)
  })
}
