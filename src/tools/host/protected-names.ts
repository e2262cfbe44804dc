import { folded } from '../../access/index.ts'
import { matchesGlob, VfsError } from '../../vfs/index.ts'

const WILDCARD = /[*?[{]/

/** What runs with the user's own rights, or holds his secrets: agents have no business writing it. */
export const USUALLY_PROTECTED: readonly string[] = ['.git/hooks', '.git/config', '.ssh', '.env']

interface Rule {
  /** As it was given. */
  readonly pattern: string
  readonly globs: readonly string[]
}

/**
 * Names that are not to be written, wherever they are and whether or not there is such a file yet. A pattern protects
 * what it matches and everything below; without a leading slash it matches at any depth. Spellings that some disk
 * takes for the same name (case, Unicode forms, invisible characters, a dot at the end) are protected too.
 */
export class ProtectedNames {
  readonly #rules: readonly Rule[]

  /** EINVAL for a pattern that cannot be one. */
  constructor(patterns: readonly string[]) {
    this.#rules = patterns.map((pattern) => ({ pattern, globs: globsOf(pattern) }))
  }

  /** The pattern that protects a path, if one does. */
  protecting(path: string): string | undefined {
    const plain = plainSpelling(path)
    return this.#rules.find(({ globs }) => globs.some((glob) => matchesGlob(plain, glob)))?.pattern
  }
}

function globsOf(pattern: string): string[] {
  const names = pattern.split('/').filter((name) => name !== '')
  if (names.length === 0) {
    throw new VfsError('EINVAL', pattern, { op: 'protect', detail: 'a pattern of protected names is empty' })
  }
  const anchor = pattern.startsWith('/') ? '' : '/**'
  const whole = plainSpelling(`${anchor}/${names.join('/')}`)
  const globs = [whole, `${whole}/**`, ...leadIns(names).map((lead) => plainSpelling(`${anchor}/${lead}`))]
  // A pattern with a mistake in it fails here, not at the first write.
  for (const glob of globs) matchesGlob('/', glob)
  return globs
}

/** A file in the place of a directory on the way would undo the protection: `.git`, where `.git/hooks` is protected. */
function leadIns(names: readonly string[]): string[] {
  const wild = names.findIndex((name) => WILDCARD.test(name))
  const plain = wild === -1 ? names.slice(0, -1) : names.slice(0, wild)
  return plain.map((_, at) => plain.slice(0, at + 1).join('/'))
}

function plainSpelling(path: string): string {
  return path.split('/').map(plainName).join('/')
}

/** Some characters hold a slash once they are taken apart, and some names are nothing: neither changes the depth. */
function plainName(name: string): string {
  return name === '' ? '' : folded(name).replaceAll('/', '_') || '_'
}
