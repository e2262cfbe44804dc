import { isSecretName, type MountConfig } from '../../kernel/index.ts'

/** Headers that describe the protocol and never carry credentials. */
const HARMLESS_HEADER =
  /^(?:accept(?:-.+)?|cache-control|connection|content-.+|date|host|mcp-protocol-version|origin|pragma|referer|traceparent|user-agent)$/i
/** Letters and digits in a row from which a value counts as generated. */
const MIN_GENERATED_LENGTH = 16

/** Lists the secrets of a server's configuration, even of an invalid one. */
export function listSecrets({ env, headers, url }: MountConfig): string[] {
  return [
    ...listEntries(env).flatMap(([name, value]) => listVariableSecrets(name, value)),
    ...listEntries(headers).flatMap(([name, value]) =>
      HARMLESS_HEADER.test(name) ? [] : listCredentials(value),
    ),
    ...(typeof url === 'string' ? listUrlSecrets(url) : []),
  ]
}

/** Lists secrets by name or by shape; a region, a path or a model's name is none, and tools may return it. */
function listVariableSecrets(name: string, value: string): string[] {
  const inner = listEntries(tryParseJson(value)).flatMap(([key, part]) => listVariableSecrets(key, part))
  const own = isSecretName(name) || isGenerated(value) ? listCredentials(value) : []
  return [...own, ...listUrlSecrets(value), ...inner]
}

/** Lists a value and its parts that are secret alone: after a scheme, a password, the values of cookies. */
function listCredentials(value: string): string[] {
  const [, scheme = '', credentials = ''] = /^([\w-]+)\s+(\S+)$/.exec(value.trim()) ?? []
  const pair = /^basic$/i.test(scheme) ? Buffer.from(credentials, 'base64').toString('utf8') : ''
  const password = pair.slice(pair.indexOf(':') + 1)
  const cookies = value.split(';').map((cookie) => cookie.slice(cookie.indexOf('=') + 1))
  return [value, credentials, pair, password, ...cookies]
}

/** Lists keys and password of a URL; with a password also the URL, since the password may be too short to redact. */
function listUrlSecrets(text: string): string[] {
  const url = URL.parse(text)
  if (url === null) return []
  const named = [...url.searchParams].flatMap(([name, value]) => (isSecretName(name) ? [value] : []))
  return url.password === '' ? named : [...named, text, url.href, url.password, tryDecode(url.password)]
}

function isGenerated(value: string): boolean {
  return value
    .split(/[^a-z\d]+/i)
    .some((run) => run.length >= MIN_GENERATED_LENGTH && /\d/.test(run) && /[a-z]/i.test(run))
}

/** Lists names and values of a mapping; YAML turns digits into numbers. */
function listEntries(given: unknown): [string, string][] {
  if (typeof given !== 'object' || given === null) return []
  return Object.entries(given).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [],
  )
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function tryDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
