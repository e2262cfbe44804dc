import { matchesGlob, VfsError } from '../vfs/index.ts'
import { foldName } from './fold-name.ts'
import { isShortNameFor } from './short-names.ts'

const WILDCARD = /[*?[{]/
/** Marks in another spelling of a name: that of a stream (`.git::$INDEX_ALLOCATION`) or of a short name (`git~1`). */
const ALTERNATE_SPELLING = /[:~]/

/** Files that run with the user's rights or contain secrets. Agents have no reason to write them. */
export const DEFAULT_PROTECTED_NAMES: readonly string[] = ['.git', '.ssh', '.env']

interface ProtectionRule {
  /** The pattern as given. */
  readonly pattern: string
  readonly matches: (path: string) => boolean
}

/**
 * Names that must not be written, at any path and whether or not the file exists yet. A pattern protects what it
 * matches and everything below; without a leading slash it matches at any depth.
 * Spellings that some disk takes for the same name are protected too: case, Unicode forms, invisible characters, a
 * trailing dot, a stream's name after a colon, a short name such as `git~1`.
 */
export class ProtectedNames {
  readonly #rules: readonly ProtectionRule[]
  /** Names in the patterns without wildcards: their short names can be computed. */
  readonly #literals: readonly string[]

  /** @throws EINVAL for an invalid pattern. */
  constructor(patterns: readonly string[]) {
    this.#rules = patterns.map((pattern) => ({ pattern, matches: createMatcher(pattern) }))
    const names = patterns.flatMap(splitPattern).filter((name) => !WILDCARD.test(name))
    this.#literals = [...new Set(names.map(foldStorableName))]
  }

  /** Returns the reason why a path must not be changed, or undefined. */
  findRefusal(path: string): string | undefined {
    const pattern = this.#findPattern(path)
    if (pattern === undefined) return undefined
    return `'${pattern}' is protected in every spelling; ask the user to make this change`
  }

  #findPattern(path: string): string | undefined {
    const spellings = this.#listSpellings(path)
    return this.#rules.find(({ matches }) => spellings.some(matches))?.pattern
  }

  /**
   * Lists the folded path and the paths that some disk takes for the same. Where two protected names have the same short
   * name, it includes both.
   */
  #listSpellings(path: string): string[] {
    const plain = foldSpelling(path)
    if (!ALTERNATE_SPELLING.test(plain)) return [plain]
    const names = path.split('/').map((name) => foldStorableName(name.replace(/(?<=.):.*$/s, '')))
    const orders = this.#literals.map((literal) => [literal, ...this.#literals])
    const toLongName = (name: string, literals: readonly string[]) =>
      literals.find((literal) => isShortNameFor(name, literal)) ?? name
    const longPaths = orders.map((order) => names.map((name) => toLongName(name, order)).join('/'))
    return [plain, names.join('/'), ...longPaths]
  }
}

function createMatcher(pattern: string): (path: string) => boolean {
  const globs = toGlobs(pattern)
  if (/[/*?[{]/.test(pattern)) return (path) => globs.some((glob) => matchesGlob(path, glob))
  // Plain names, the most common, match faster: removing a tree checks every file in it.
  const name = `/${foldStorableName(pattern)}/`
  return (path) => `${path}/`.includes(name)
}

function toGlobs(pattern: string): string[] {
  const names = splitPattern(pattern)
  if (names.length === 0) {
    throw new VfsError('EINVAL', pattern, {
      op: 'protect',
      detail: 'a pattern for protected names is empty; remove it',
    })
  }
  const anchor = pattern.startsWith('/') ? '' : '/**'
  const whole = foldSpelling(`${anchor}/${names.join('/')}`)
  const globs = [
    whole,
    `${whole}/**`,
    ...listParentPatterns(names).map((lead) => foldSpelling(`${anchor}/${lead}`)),
  ]
  // An invalid pattern fails here, not at the first write.
  for (const glob of globs) matchesGlob('/', glob)
  return globs
}

function splitPattern(pattern: string): string[] {
  return pattern.split('/').filter((name) => name !== '')
}

/**
 * Lists the parents of a pattern, down to the first wildcard. A file in place of one would undo the protection: `conf`
 * for `conf/keys`.
 */
function listParentPatterns(names: readonly string[]): string[] {
  const firstWildcard = names.findIndex((name) => WILDCARD.test(name))
  const parents = firstWildcard === -1 ? names.slice(0, -1) : names.slice(0, firstWildcard)
  return parents.map((_, index) => parents.slice(0, index + 1).join('/'))
}

function foldSpelling(path: string): string {
  return path.split('/').map(foldStorableName).join('/')
}

/** Folds a name without changing the depth: some characters decompose to a slash, and some names fold to nothing. */
function foldStorableName(name: string): string {
  return name === '' ? '' : foldName(name).replaceAll('/', '_') || '_'
}
