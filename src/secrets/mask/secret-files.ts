/** Names of files that usually hold secrets. A later pattern wins; one with `!` excludes. */
export const usualSecretFiles: readonly string[] = [
  '.env',
  '.env.*',
  '.envrc',
  '*.env',
  '!.env.example',
  '!.env.sample',
  '!.env.template',
  '!.env.dist',
  '!*.example.env',
  '!*.sample.env',
  '*.pem',
  '*.key',
  '*.p12',
  '*.pfx',
  '*.jks',
  '*.keystore',
  'id_rsa',
  'id_dsa',
  'id_ecdsa',
  'id_ed25519',
  'credentials*.json',
  '*credentials.json',
  'service-account*.json',
  'service_account*.json',
  'serviceAccount*.json',
  '*-service-account.json',
  'client_secret*.json',
  'secrets.json',
  'secrets.yml',
  'secrets.yaml',
  'secrets.toml',
  '.netrc',
  '.pypirc',
  '.git-credentials',
  '.htpasswd',
  'master.key',
]

/** Additions of editors to the name of a copy: a suffix, or a mark in front. */
const BACKUP_SUFFIX = /(?:~|\.(?:bak|backup|orig|old|save|swp|swo|swn|tmp|rej)|\.~\d+~)$/
const SWAP_SUFFIX = /\.sw[pon]$/
const BACKUP_PREFIX = /^(?:\.?#|\.(?=\.))/

interface SecretPattern {
  readonly expression: RegExp
  /** True if it is compared with the whole path. */
  readonly isPath: boolean
  readonly isExcluding: boolean
}

/** Patterns for the files of a project whose values are secret. */
export class SecretFiles {
  /** As they were given. */
  readonly patterns: readonly string[]
  readonly #patterns: readonly SecretPattern[]
  /** All including patterns in one, for names and for paths: a project has many files that match none. */
  readonly #anyName: RegExp
  readonly #anyPath: RegExp

  /**
   * @param patterns names, or paths of the project if they have a slash. `*` matches any characters but a slash, and a
   * directory `**` any number of directories.
   */
  constructor(patterns: readonly string[] = usualSecretFiles) {
    this.patterns = patterns
    this.#patterns = patterns.map(toPattern)
    const including = this.#patterns.filter(({ isExcluding }) => !isExcluding)
    this.#anyName = joinExpressions(including.filter(({ isPath }) => !isPath))
    this.#anyPath = joinExpressions(including.filter(({ isPath }) => isPath))
  }

  /** Reports whether a path of the project is one of them, or a backup that an editor made of one. */
  includes(path: string): boolean {
    const relative = path.replace(/^\//, '')
    return this.#matches(relative) || listOriginals(relative).some((original) => this.#matches(original))
  }

  #matches(path: string): boolean {
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (!this.#anyName.test(name) && !this.#anyPath.test(path)) return false
    const last = this.#patterns.findLast(({ expression, isPath }) => expression.test(isPath ? path : name))
    return last !== undefined && !last.isExcluding
  }
}

/** Lists the paths of which a path may be a backup. */
function listOriginals(path: string): string[] {
  const slash = path.lastIndexOf('/') + 1
  const name = path.slice(slash)
  if (!BACKUP_SUFFIX.test(name) && !BACKUP_PREFIX.test(name)) return []
  const plain = name.replace(BACKUP_SUFFIX, '').replace(/#$/, '')
  const originals = [plain, name.replace(BACKUP_PREFIX, ''), plain.replace(BACKUP_PREFIX, '')]
  // A swap file begins with a dot, which may be its own.
  if (SWAP_SUFFIX.test(name)) originals.push(plain.replace(/^\./, ''))
  return [...new Set(originals)]
    .filter((original) => original !== name && original !== '')
    .map((original) => path.slice(0, slash) + original)
}

function toPattern(pattern: string): SecretPattern {
  const isExcluding = pattern.startsWith('!')
  const given = isExcluding ? pattern.slice(1) : pattern
  const parts = given
    .replace(/^\//, '')
    .split('**/')
    .map((part) => part.replaceAll(/[.+^${}()|[\]\\?]/g, '\\$&').replaceAll(/\*+/g, '[^/]*'))
  const expression = new RegExp(`^${parts.join('(?:.*/)?')}$`, 'i')
  return { expression, isPath: given.includes('/'), isExcluding }
}

/** Returns an expression that matches where any pattern does; nothing without patterns. */
function joinExpressions(patterns: readonly SecretPattern[]): RegExp {
  const sources = patterns.map(({ expression: { source } }) => source)
  return new RegExp(sources.length === 0 ? '(?!)' : sources.join('|'), 'i')
}
