import ignore, { type Ignore } from 'ignore'

/** The library caches every tested path; after this many the cache is replaced. */
const MAX_CACHED_PATHS = 20_000
const SPECIAL_CHARACTERS = /[\\*?[\]!# ]/g

/**
 * Decides which paths to skip, by `.gitignore` patterns: of one list, or of the `.gitignore` files in a directory and
 * its ancestors. Paths are relative to the root; those of directories end with a slash.
 */
export class IgnoreRules {
  #rules: Ignore
  #tested = 0
  /** True without any pattern: the library would still take microseconds for each path. */
  #isEmpty: boolean

  constructor(patterns: readonly string[] = []) {
    this.#rules = ignore({ ignoreCase: false }).add(patterns)
    this.#isEmpty = patterns.length === 0
  }

  ignores(path: string): boolean {
    if (this.#isEmpty) return false
    if (++this.#tested % MAX_CACHED_PATHS === 0) this.#rules = ignore({ ignoreCase: false }).add(this.#rules)
    return this.#rules.ignores(path)
  }

  /** Returns these rules extended by a `.gitignore` in a subdirectory, which takes precedence. */
  within(directory: string, text: string): IgnoreRules {
    const lines = text.replace(/^\ufeff/, '').split(/\r?\n/)
    const patterns = lines.flatMap((line) => rebasePattern(directory, line))
    const nested = new IgnoreRules()
    nested.#rules.add(this.#rules).add(patterns)
    nested.#isEmpty = this.#isEmpty && patterns.length === 0
    return nested
  }
}

/**
 * Rewrites a `.gitignore` pattern relative to the root. One rule set is needed for the whole path: a set per file could
 * not negate a rule of a parent.
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
