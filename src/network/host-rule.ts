import { isIP, isIPv6 } from 'node:net'
import { VfsError } from '../vfs/index.ts'
import { formatHost, isPort, type NetworkTarget, normalizeHost } from './host-name.ts'
import { isLoopbackAddress } from './public-address.ts'

/** A host that a command may reach. */
export interface HostRule {
  /** A normalised name or address. */
  readonly host: string
  /** True for all names below `host`, and not for `host` itself. */
  readonly isWildcard: boolean
  /** All ports when absent. */
  readonly port?: number
}

const RULE = /^(\*\.)?(\[[^\][]*\]|[^:@/?#\\\][]+)(?::(\d{1,5}))?$/
const EXAMPLES = 'give a host such as example.com, *.example.com, example.com:8443 or 192.0.2.7'

/** Parses `NAME[:PORT]`, `*.NAME[:PORT]` or `ADDRESS[:PORT]`. EINVAL says what is wrong with it. */
export function parseHostRule(text: string): HostRule {
  if (isIPv6(text)) return parseHostRule(`[${text}]`)
  if (text === '*') throw createRuleError(text, 'cannot name every host; use --network for that')
  if (text.includes('://')) throw createRuleError(text, `is a URL; ${EXAMPLES}`)
  const [, wildcard, name = '', digits] = RULE.exec(text) ?? []
  const host = normalizeHost(name)
  if (host === undefined) throw createRuleError(text, `is not a host; ${EXAMPLES}`)
  const isWildcard = wildcard !== undefined
  if (isWildcard && isIP(host) !== 0)
    throw createRuleError(text, 'has a wildcard before an address; name the address alone')
  const port = digits === undefined ? undefined : Number(digits)
  if (port !== undefined && !isPort(port)) throw createRuleError(text, 'has a port outside of 1 to 65535')
  if (port === undefined && isThisMachine(host))
    throw createRuleError(text, `would reach every service of this machine; name a port: ${text}:5432`)
  return { host, isWildcard, ...(port !== undefined && { port }) }
}

/** Formats a rule as it is typed, in its normalised form. */
export function formatHostRule({ host, isWildcard, port }: HostRule): string {
  const suffix = port === undefined ? '' : `:${port}`
  return `${isWildcard ? '*.' : ''}${suffix === '' ? host : formatHost(host)}${suffix}`
}

/** Reports whether a rule names a target. */
export function matchesHostRule(rule: HostRule, { host, port }: NetworkTarget): boolean {
  if (rule.port !== undefined && rule.port !== port) return false
  // An address has no names below it.
  return rule.isWildcard ? isIP(host) === 0 && host.endsWith(`.${rule.host}`) : host === rule.host
}

/** Reports whether a wide rule names every target that a narrow one names. */
export function coversHostRule(wide: HostRule, narrow: HostRule): boolean {
  if (wide.port !== undefined && wide.port !== narrow.port) return false
  if (!narrow.isWildcard) return matchesHostRule({ ...wide, port: 1 }, { host: narrow.host, port: 1 })
  return wide.isWildcard && (narrow.host === wide.host || narrow.host.endsWith(`.${wide.host}`))
}

/** Reports whether a host is this machine itself, whose services a command must not reach by accident. */
export function isThisMachine(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || isLoopbackAddress(host)
}

function createRuleError(rule: string, problem: string): VfsError {
  return new VfsError('EINVAL', rule, { op: 'allow', detail: `'${rule}' ${problem}` })
}
