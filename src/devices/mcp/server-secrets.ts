import { isSecretName, type MountConfig } from '../../kernel/index.ts'

/** Headers that say how to talk, and not who does. */
const HARMLESS_HEADER =
  /^(?:accept(?:-.+)?|cache-control|connection|content-.+|date|host|mcp-protocol-version|origin|pragma|referer|traceparent|user-agent)$/i
/** Nobody makes up so many letters and digits in a row. */
const MACHINE_MADE_LENGTH = 16

/** What of a server's configuration nobody but the server is to read, whether the configuration can be mounted or not. */
export function secretsOf({ env, headers, url }: MountConfig): string[] {
  return [
    ...entriesOf(env).flatMap(([name, value]) => secretsOfVariable(name, value)),
    ...entriesOf(headers).flatMap(([name, value]) =>
      HARMLESS_HEADER.test(name) ? [] : credentialsIn(value),
    ),
    ...(typeof url === 'string' ? secretsOfAddress(url) : []),
  ]
}

/** A secret by its name or by its looks; a region, a path or the name of a model is none, and a tool may well tell it. */
function secretsOfVariable(name: string, value: string): string[] {
  const inner = entriesOf(parsed(value)).flatMap(([key, part]) => secretsOfVariable(key, part))
  const own = isSecretName(name) || isMachineMade(value) ? credentialsIn(value) : []
  return [...own, ...secretsOfAddress(value), ...inner]
}

/** A value, and what of it is told without the rest: what follows a scheme, a password, the values of cookies. */
function credentialsIn(value: string): string[] {
  const [, scheme = '', credentials = ''] = /^([\w-]+)\s+(\S+)$/.exec(value.trim()) ?? []
  const pair = /^basic$/i.test(scheme) ? Buffer.from(credentials, 'base64').toString('utf8') : ''
  const password = pair.slice(pair.indexOf(':') + 1)
  const cookies = value.split(';').map((cookie) => cookie.slice(cookie.indexOf('=') + 1))
  return [value, credentials, pair, password, ...cookies]
}

/** Keys in an address, and its password; with one, the address itself, since the password may be too short to be known. */
function secretsOfAddress(text: string): string[] {
  const url = URL.parse(text)
  if (url === null) return []
  const named = [...url.searchParams].flatMap(([name, value]) => (isSecretName(name) ? [value] : []))
  return url.password === '' ? named : [...named, text, url.href, url.password, decoded(url.password)]
}

function isMachineMade(value: string): boolean {
  return value
    .split(/[^a-z\d]+/i)
    .some((run) => run.length >= MACHINE_MADE_LENGTH && /\d/.test(run) && /[a-z]/i.test(run))
}

/** Names and values of what was given as some; numbers are what YAML makes of digits. */
function entriesOf(given: unknown): [string, string][] {
  if (typeof given !== 'object' || given === null) return []
  return Object.entries(given).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [],
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
