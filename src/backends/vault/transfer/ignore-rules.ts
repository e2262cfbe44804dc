import ignore, { type Ignore } from 'ignore'

/** The library remembers every path it was asked about; after this many it starts afresh. */
const MAX_CACHED_PATHS = 20_000
const SPECIAL_CHARACTERS = /[\\*?[\]!# ]/g

/**
 * Which paths to leave out, by the patterns of `.gitignore`: of one list, or of the files of that name in a directory
 * and all above it. Paths are relative to the root, those of directories end with a slash.
 */
export class IgnoreRules {
  #rules: Ignore
  #asked = 0

  constructor(patterns: readonly string[] | Ignore = []) {
    this.#rules = ignore({ ignoreCase: false }).add(patterns)
  }

  ignores(path: string): boolean {
    if (++this.#asked % MAX_CACHED_PATHS === 0) this.#rules = ignore({ ignoreCase: false }).add(this.#rules)
    return this.#rules.ignores(path)
  }

  /** These rules and those of a `.gitignore` in a directory below, which go before them. */
  within(directory: string, text: string): IgnoreRules {
    const lines = text.replace(/^\ufeff/, '').split(/\r?\n/)
    const below = new IgnoreRules(this.#rules)
    below.#rules.add(lines.flatMap((line) => rebasePattern(directory, line)))
    return below
  }
}

/**
 * A pattern of a `.gitignore` as one of the root would say it. One set of rules for the whole way decides about a
 * path and the directories above it alike; a set for each file could not take back what a set above it ignores.
 */
function rebasePattern(directory: string, line: string): string[] {
  if (line.trim() === '' || line.startsWith('#')) return []
  if (directory === '') return [line]
  const isNegative = line.startsWith('!')
  const pattern = isNegative ? line.slice(1) : line
  const isAnchored = pattern.trimEnd().slice(0, -1).includes('/')
  const prefix = `/${directory.replaceAll(SPECIAL_CHARACTERS, '\\$&')}/${isAnchored ? '' : '**/'}`
  return [`${isNegative ? '!' : ''}${prefix}${isAnchored ? pattern.replace(/^\//, '') : pattern}`]
}
