import { isIP, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'

/** Names that are local to this machine or its network. */
const LOCAL_NAMES = ['localhost', 'local', 'internal', 'intranet', 'lan', 'home', 'corp', 'home.arpa']
/** Characters of a name before it is converted to ASCII. */
const NAME_CHARACTERS = /^[\p{L}\p{M}\p{N}._-]+$/u
const ASCII_NAME = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/
const MAX_NAME_LENGTH = 253
const MAX_PORT = 65_535
const AUTHORITY = /^(\[[^\][]*\]|[^:@/?#\\\][]+)(?::(\d{1,5}))?$/

/** A host and a port, as a client names them. The host is normalised. */
export interface NetworkTarget {
  readonly host: string
  readonly port: number
}

/**
 * Returns a name or address in the one form in which it is compared: lower case, ASCII, no final dot, no brackets. A
 * number in any spelling becomes the address that programs take it for. Undefined for anything else.
 */
export function normalizeHost(text: string): string | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  if (isIPv6(bare)) return normalizeIpv6(bare)
  if (bare !== text || !NAME_CHARACTERS.test(text)) return undefined
  const name = domainToASCII(text.replace(/\.$/, ''))
  return name.length <= MAX_NAME_LENGTH && ASCII_NAME.test(name) ? name : undefined
}

/** Parses `host:port`, also `[::1]:443`. Undefined if either is invalid, or if there is a user name. */
export function parseTarget(authority: string, defaultPort?: number): NetworkTarget | undefined {
  const [, name, digits] = AUTHORITY.exec(authority) ?? []
  const host = name === undefined ? undefined : normalizeHost(name)
  const port = digits === undefined ? defaultPort : Number(digits)
  return host === undefined || port === undefined || !isPort(port) ? undefined : { host, port }
}

/** Formats a target as `host:port`, with brackets around an IPv6 address. */
export function formatTarget({ host, port }: NetworkTarget): string {
  return `${formatHost(host)}:${port}`
}

export function formatHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host
}

/** Reports whether a normalised name is one of this machine or its network, not of the public internet. */
export function isLocalName(host: string): boolean {
  if (isIP(host) !== 0) return false
  return !host.includes('.') || LOCAL_NAMES.some((name) => host === name || host.endsWith(`.${name}`))
}

export function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= MAX_PORT
}

/** Returns an IPv6 address in its one form; undefined for one with a zone, which belongs to one interface. */
function normalizeIpv6(address: string): string | undefined {
  return address.includes('%') ? undefined : new URL(`http://[${address}]/`).hostname.slice(1, -1)
}
