import { matchesGlob, VfsError } from '../vfs/index.ts'
import { foldName } from './fold-name.ts'
import { isShortNameFor } from './short-names.ts'

const WILDCARD = /[*?[{]/
/** A stream of a file (`.git::$INDEX_ALLOCATION`), or a short name. */
const ALTERNATE_SPELLING = /[:~]/

/** What runs with the user's own rights, or holds his secrets: agents have no business writing it. */
export const DEFAULT_PROTECTED_NAMES: readonly string[] = ['.git', '.ssh', '.env']

interface ProtectionRule {
  /** As it was given. */
  readonly pattern: string
  readonly isMatching: (path: string) => boolean
}

/**
 * Names that are not to be written, wherever they are and whether or not there is such a file yet. A pattern protects
 * what it matches and everything below; without a leading slash it matches at any depth. Spellings that some disk
 * takes for the same name (case, Unicode forms, invisible characters, a dot at the end, a stream's name after a colon,
 * a short name such as `git~1`) are protected too.
 */
export class ProtectedNames {
  readonly #rules: readonly ProtectionRule[]
  /** Names in the patterns that are no wildcards: those of which a short name can be known. */
  readonly #literals: readonly string[]

  /** EINVAL for a pattern that cannot be one. */
  constructor(patterns: readonly string[]) {
    this.#rules = patterns.map((pattern) => ({ pattern, isMatching: createMatcher(pattern) }))
    const names = patterns.flatMap(splitPattern).filter((name) => !WILDCARD.test(name))
    this.#literals = [...new Set(names.map(foldStorableName))]
  }

  /** Why a path is not to be changed, if so. */
  findRefusal(path: string): string | undefined {
    const pattern = this.#findPattern(path)
    if (pattern === undefined) return undefined
    return `'${pattern}' is protected, and so is every spelling of it; leave it to the user`
  }

  #findPattern(path: string): string | undefined {
    const spellings = this.#listSpellings(path)
    return this.#rules.find(({ isMatching }) => spellings.some(isMatching))?.pattern
  }

  /** What a path may also be called. Of two names with the same short one, each has its turn. */
  #listSpellings(path: string): string[] {
    const plain = foldSpelling(path)
    if (!ALTERNATE_SPELLING.test(plain)) return [plain]
    const names = path.split('/').map((name) => foldStorableName(name.replace(/(?<=.):.*$/s, '')))
    const turns = this.#literals.map((literal) => [literal, ...this.#literals])
    const long = (name: string, literals: readonly string[]) =>
      literals.find((literal) => isShortNameFor(name, literal)) ?? name
    return [plain, names.join('/'), ...turns.map((turn) => names.map((name) => long(name, turn)).join('/'))]
  }
}

function createMatcher(pattern: string): (path: string) => boolean {
  const globs = toGlobs(pattern)
  if (/[/*?[{]/.test(pattern)) return (path) => globs.some((glob) => matchesGlob(path, glob))
  // A plain name, as most are, is found faster: every file of a tree is asked about before the tree is removed.
  const name = `/${foldStorableName(pattern)}/`
  return (path) => `${path}/`.includes(name)
}

function toGlobs(pattern: string): string[] {
  const names = splitPattern(pattern)
  if (names.length === 0) {
    throw new VfsError('EINVAL', pattern, { op: 'protect', detail: 'a pattern of protected names is empty' })
  }
  const anchor = pattern.startsWith('/') ? '' : '/**'
  const whole = foldSpelling(`${anchor}/${names.join('/')}`)
  const globs = [
    whole,
    `${whole}/**`,
    ...listParentPatterns(names).map((lead) => foldSpelling(`${anchor}/${lead}`)),
  ]
  // A pattern with a mistake in it fails here, not at the first write.
  for (const glob of globs) matchesGlob('/', glob)
  return globs
}

function splitPattern(pattern: string): string[] {
  return pattern.split('/').filter((name) => name !== '')
}

/** A file in the place of a directory on the way would undo the protection: `conf`, where `conf/keys` is protected. */
function listParentPatterns(names: readonly string[]): string[] {
  const wild = names.findIndex((name) => WILDCARD.test(name))
  const plain = wild === -1 ? names.slice(0, -1) : names.slice(0, wild)
  return plain.map((_, at) => plain.slice(0, at + 1).join('/'))
}

function foldSpelling(path: string): string {
  return path.split('/').map(foldStorableName).join('/')
}

/** Some characters hold a slash once they are taken apart, and some names are nothing: neither changes the depth. */
function foldStorableName(name: string): string {
  return name === '' ? '' : foldName(name).replaceAll('/', '_') || '_'
}
