import type { IncomingMessage } from 'node:http'
import { formatTarget, type NetworkTarget, parseTarget } from '../host-name.ts'

/** A header of a message; the name is in lower case. */
export type MessageHeader = [name: string, value: string]

/** Headers that belong to one connection (RFC 9110, section 7.6.1), and those that only a proxy reads. */
const HOP_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Selects the headers that pass a proxy: not those of one connection, nor those that `Connection` names. */
export function selectEndHeaders({ rawHeaders, headers }: IncomingMessage): MessageHeader[] {
  const connectionHeaders = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  return listHeaders(rawHeaders).filter(
    ([name]) => !HOP_HEADERS.has(name) && !connectionHeaders.includes(name),
  )
}

/**
 * Reports whether the Host header of a request names its target. HTTP/1.0 may have none. Two would be read differently
 * by different servers.
 */
export function hasAgreeingHost(
  { rawHeaders }: IncomingMessage,
  target: NetworkTarget,
  defaultPort: number,
): boolean {
  const hosts = listHeaders(rawHeaders).filter(([name]) => name === 'host')
  return (
    hosts.length <= 1 && hosts.every(([, value]) => isSameTarget(parseTarget(value, defaultPort), target))
  )
}

/** Formats a target for a Host header, which leaves out the usual port. */
export function formatHostHeader(target: NetworkTarget, defaultPort: number): string {
  const text = formatTarget(target)
  return target.port === defaultPort ? text.slice(0, -`:${defaultPort}`.length) : text
}

function isSameTarget(one: NetworkTarget | undefined, other: NetworkTarget): boolean {
  return one !== undefined && one.host === other.host && one.port === other.port
}

function listHeaders(raw: readonly string[]): MessageHeader[] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name.toLowerCase(), raw[index + 1] ?? '']] : []))
}
