import { readFileSync } from 'node:fs'
import { VfsError } from '../../../vfs/index.ts'

const DEFAULT_PORT = 5432
const MAX_PORT = 65_535
const DEFAULT_SCHEMA = 'coppice'
/** Names of schemas, without those that PostgreSQL keeps for itself. */
const SCHEMA_NAME = /^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,49}$/
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d+){3}|::1)$/
const SSL_MODES = ['disable', 'require', 'verify-full'] as const
/** Stands for a missing host: URLs need one after a user name, those of PostgreSQL do not. */
const NO_HOST = 'no-host.invalid'
const USER_WITHOUT_HOST = /^(\w+:\/\/[^/?#]*@)(?=[/?#]|$)/
const PARAMETERS = ['schema', 'host', 'port', 'user', 'sslmode', 'sslrootcert', 'freshness']

type SslMode = (typeof SSL_MODES)[number]

/**
 * Delay with which a home shows commits of others. `notified`: until a hint from the database, at most a second.
 * `strict`: none, for one question to the database in each turn of the event loop.
 */
export type Freshness = 'notified' | 'strict'

/** Address of a home in PostgreSQL. Values that are absent follow PostgreSQL's own variables and files. */
export interface PostgresAddress {
  /** Host name, or the directory of a unix socket. */
  readonly host: string | undefined
  readonly port: number
  readonly user: string | undefined
  readonly password: string | undefined
  readonly database: string | undefined
  /** Schema that has the tables of the home. */
  readonly schema: string
  readonly freshness: Freshness | undefined
  readonly ssl: false | { readonly rejectUnauthorized: boolean; readonly ca?: string }
  /** The URL without its password, for messages. */
  readonly label: string
}

/** Reports whether a home is named by a URL of PostgreSQL. */
export function isPostgresUrl(home: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(home)
}

/** Reports whether a URL contains a password. */
export function hasUrlPassword(url: string): boolean {
  return isPostgresUrl(url) && parseUrl(url).password !== ''
}

/**
 * Passwords by URL without a password, for homes that are opened so, such as by the directory of this machine's part.
 */
const passwordsByLabel = new Map<string, string>()

/** Remembers the password of a URL, so that the same URL without it opens the home in this process. */
export function rememberUrlPassword(url: string): void {
  const { label, password } = parsePostgresUrl(url)
  if (password !== undefined) passwordsByLabel.set(label, password)
}

/** Returns a URL without its password. */
export function hideUrlPassword(url: string): string {
  return isPostgresUrl(url) ? parsePostgresUrl(url).label : url
}

/**
 * Parses `postgres://user@host:port/database?schema=name`. A socket's directory is a host with percent signs, or
 * `?host=`. EINVAL if it is no URL, or has an unknown parameter or value.
 */
export function parsePostgresUrl(text: string): PostgresAddress {
  const url = parseUrl(text)
  const { searchParams } = url
  const label = createLabel(url)
  for (const name of searchParams.keys()) {
    if (!PARAMETERS.includes(name)) {
      throw createUrlError(label, `'${name}' is unknown; use one of ${PARAMETERS.join(', ')}`)
    }
  }
  const schema = searchParams.get('schema') ?? DEFAULT_SCHEMA
  if (!SCHEMA_NAME.test(schema)) {
    throw createUrlError(
      label,
      `the schema '${schema}' must have at most 50 letters a-z, digits and '_', and not begin with 'pg_'`,
    )
  }
  const hostname = url.hostname === NO_HOST ? '' : decode(url.hostname, label).replace(/^\[|\]$/g, '')
  const host = searchParams.get('host') ?? (hostname || undefined)
  return {
    host,
    port: parsePort(searchParams.get('port') ?? (url.port || DEFAULT_PORT), label),
    user: searchParams.get('user') ?? (decode(url.username, label) || undefined),
    password: decode(url.password, label) || passwordsByLabel.get(label),
    database: decode(url.pathname.slice(1), label) || undefined,
    schema,
    freshness: parseFreshness(searchParams.get('freshness'), label),
    ssl: chooseTls(searchParams, host, label),
    label,
  }
}

function parsePort(value: string | number, label: string): number {
  const port = Number(value)
  if (Number.isInteger(port) && port > 0 && port <= MAX_PORT) return port
  throw createUrlError(label, `the port '${value}' must be a number from 1 to ${MAX_PORT}`)
}

function decode(part: string, label: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw createUrlError(
      label,
      'a % in it is not followed by two hexadecimal digits; write %25 for a percent sign',
    )
  }
}

function parseFreshness(value: string | null, label: string): Freshness | undefined {
  if (value === null) return undefined
  if (value === 'notified' || value === 'strict') return value
  throw createUrlError(label, `freshness '${value}' is unknown; use notified or strict`)
}

/** Chooses TLS with a verified certificate, unless the server is on this machine or the URL says otherwise. */
function chooseTls(
  parameters: URLSearchParams,
  host: string | undefined,
  label: string,
): PostgresAddress['ssl'] {
  const isLocal = host === undefined || host.startsWith('/') || LOOPBACK_HOST.test(host)
  const mode = parameters.get('sslmode') ?? (isLocal ? 'disable' : 'verify-full')
  if (!isSslMode(mode)) {
    throw createUrlError(label, `sslmode '${mode}' is unknown; use one of ${SSL_MODES.join(', ')}`)
  }
  if (mode === 'disable') return false
  const file = parameters.get('sslrootcert')
  return { rejectUnauthorized: mode === 'verify-full', ...(file && { ca: readCertificate(file, label) }) }
}

function isSslMode(mode: string): mode is SslMode {
  return SSL_MODES.some((name) => name === mode)
}

function readCertificate(file: string, label: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw createUrlError(label, `the certificate ${file} of sslrootcert cannot be read`)
  }
}

function parseUrl(text: string): URL {
  try {
    return new URL(text.replace(USER_WITHOUT_HOST, `$1${NO_HOST}`))
  } catch {
    // The text may have a password.
    throw createUrlError('postgres://…', 'it is no URL; write postgres://user@host/database')
  }
}

function createLabel(url: URL): string {
  const copy = new URL(url)
  copy.password = ''
  // No parameter of homes, but one of PostgreSQL's URLs: an error names the URL.
  if (copy.searchParams.has('password')) copy.searchParams.delete('password')
  return copy.href.replace(NO_HOST, '')
}

function createUrlError(label: string, problem: string): VfsError {
  return new VfsError('EINVAL', label, { op: 'open', detail: `the home ${label} cannot be used: ${problem}` })
}
