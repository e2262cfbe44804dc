/** Replacement for a secret. */
export const REDACTED = '[redacted]'
/** Minimum length of a secret. Shorter values would redact ordinary words. */
const MIN_LENGTH = 8
/** Minimum length of a single line of a multi-line secret. A shorter line may be ordinary text. */
const MIN_LINE_LENGTH = 16
/** Minimum length of a truncated secret. */
const MIN_PART_LENGTH = 4

const SECRET_NAME =
  /token|secret|passw|credential|auth(?!or)|authoriz|cookie|bearer|key(?:_|$)|_pwd$|(?:^|_)(?:pass|passphrase|dsn|pat)$/i

/** JSON escapes of these characters, after the backslash. */
const JSON_ESCAPES: Readonly<Record<string, string>> = { '\n': 'n', '\r': 'r', '\t': 't' }

/** Reports whether the value of a variable or header with this name is taken for a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.replaceAll('-', '_'))
}

/** Secret values to redact from output. Short ones are ignored. */
export class KnownSecrets {
  #values: readonly string[] = []
  #patterns: readonly RegExp[] = []

  constructor(values: Iterable<string> = []) {
    this.add(values)
  }

  add(values: Iterable<string>): void {
    const all = new Set([...this.#values, ...[...values].flatMap(listSecretParts)])
    if (all.size === this.#values.length) return
    // The longest first, because one may contain another.
    this.#values = [...all].sort((a, b) => b.length - a.length)
    this.#patterns = this.#values.flatMap(toPatterns)
  }

  redact(text: string): string {
    return this.#patterns.reduce((rest, form) => rest.replace(form, REDACTED), text)
  }

  /** Redacts truncated text: also a part of a secret at either end. */
  redactTruncated(text: string): string {
    const suffixLength = Math.max(
      0,
      ...this.#values.map((value) => matchSuffixLength(value, (end) => text.startsWith(end))),
    )
    const rest = text.slice(suffixLength)
    const prefixLength = Math.max(
      0,
      ...this.#values.map((value) => matchPrefixLength(value, (start) => rest.endsWith(start))),
    )
    const whole = this.redact(rest.slice(0, rest.length - prefixLength))
    return `${suffixLength > 0 ? REDACTED : ''}${whole}${prefixLength > 0 ? REDACTED : ''}`
  }

  /** Redacts every string, number and key of a JSON value. */
  redactValue<Value>(value: Value): Value {
    if (this.#patterns.length === 0 || value === undefined) return value
    return JSON.parse(JSON.stringify(value), (_key, part: unknown) => this.#redactPart(part))
  }

  #redactPart(part: unknown): unknown {
    if (typeof part === 'string') return this.redact(part)
    if (typeof part === 'number') return this.redact(String(part)) === String(part) ? part : REDACTED
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
    return Object.fromEntries(Object.entries(part).map(([name, inner]) => [this.redact(name), inner]))
  }
}

/** Returns the length of the longest suffix of a value that matches; 0 if none of `MIN_PART_LENGTH` or more does. */
function matchSuffixLength(value: string, isMatch: (end: string) => boolean): number {
  for (let length = value.length; length >= MIN_PART_LENGTH; length--)
    if (isMatch(value.slice(-length))) return length
  return 0
}

/** Returns the length of the longest prefix of a value that matches; 0 if none of `MIN_PART_LENGTH` or more does. */
function matchPrefixLength(value: string, isMatch: (start: string) => boolean): number {
  for (let length = value.length; length >= MIN_PART_LENGTH; length--)
    if (isMatch(value.slice(0, length))) return length
  return 0
}

/**
 * Returns a value and its longer lines, since programs print them singly; nothing for a short value. The lines
 * `-----BEGIN …` and `-----END …` are omitted: patterns find a key by them.
 */
function listSecretParts(value: string): string[] {
  const whole = value.trim()
  const lines = whole.split(/\r?\n/).map((line) => line.trim())
  const longLines = lines.filter((line) => line.length >= MIN_LINE_LENGTH && !line.startsWith('-----'))
  return whole.length < MIN_LENGTH ? [] : lines.length === 1 ? [whole] : [whole, ...longLines]
}

/** Returns patterns for a value: plain, escaped in JSON at any depth, and URL-encoded. */
export function toPatterns(value: string): RegExp[] {
  const urlEncoded = encodeURIComponent(value.toWellFormed())
  const forms =
    urlEncoded === value ? [toJsonPattern(value)] : [toJsonPattern(value), escapeRegExp(urlEncoded)]
  return forms.map((form) => new RegExp(form, 'g'))
}

/**
 * Matches a value at any depth of JSON, where each level adds backslashes. A run of backslashes is one repetition,
 * anchored at its start: otherwise a text of backslashes would take quadratic time.
 */
function toJsonPattern(value: string): string {
  return [...value.matchAll(/(\\*)([^\\]?)/gsu)]
    .map(([, { length = 0 } = '', character = ''], index) => {
      const border = index === 0 ? '(?<!\\\\)' : ''
      const letter = JSON_ESCAPES[character]
      if (letter !== undefined) {
        return `(?:${toBackslashPattern(length, border)}${escapeRegExp(character)}|${toBackslashPattern(length + 1, border)}${letter})`
      }
      if (character === '"') return `${border}\\\\{${length},}"`
      return `${toBackslashPattern(length, border)}${escapeRegExp(character)}`
    })
    .join('')
}

function toBackslashPattern(count: number, border: string): string {
  return count === 0 ? '' : `${border}\\\\{${count},}`
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
