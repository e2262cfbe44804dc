import { isIP } from 'node:net'
import { formatTarget, isLocalName, type NetworkTarget } from './host-name.ts'
import { formatHostRule, type HostRule, matchesHostRule } from './host-rule.ts'
import { isPrivateAddress, isPublicAddress } from './public-address.ts'
import { cacheAddresses, type ResolveAddresses, resolveByHost } from './resolve-host.ts'

const HTTPS_PORT = 443

/** Decision about one connection. */
export type AccessDecision =
  /** The checked addresses. A connection goes to one of these and never asks for the name again. */
  | { readonly decision: 'allowed'; readonly addresses: readonly string[] }
  | {
      readonly decision: 'refused'
      readonly reason: string
      /** The rule that would allow it, as it is typed. */
      readonly remedy: string
    }
  | { readonly decision: 'failed'; readonly reason: string }

/**
 * Decides which targets a command reaches: those that a rule names. A name has to lead to the public internet, to an
 * address that a rule names too, or, if it is a local name, to a private network.
 */
export class NetworkAccess {
  readonly #rules: readonly HostRule[]
  readonly #resolve: ResolveAddresses

  constructor(rules: readonly HostRule[], resolve: ResolveAddresses = resolveByHost) {
    this.#rules = rules
    this.#resolve = cacheAddresses(resolve)
  }

  async decide(target: NetworkTarget): Promise<AccessDecision> {
    const rule = this.#rules.find((candidate) => matchesHostRule(candidate, target))
    if (rule === undefined)
      return { decision: 'refused', reason: 'is not an allowed host', remedy: formatRemedy(target) }
    const { host } = target
    if (isIP(host) !== 0) return { decision: 'allowed', addresses: [host] }
    try {
      return this.#selectAddresses(target, rule, await this.#resolve(host))
    } catch (error) {
      return { decision: 'failed', reason: `has no address (${formatCause(error)})` }
    }
  }

  /** Selects the permitted addresses of an allowed name, whose owner may let it lead anywhere. */
  #selectAddresses(target: NetworkTarget, rule: HostRule, found: readonly string[]): AccessDecision {
    const [first] = found
    if (first === undefined) return { decision: 'failed', reason: 'has no address' }
    const addresses = found.filter((address) => this.#isPermitted(address, target, rule))
    if (addresses.length > 0) return { decision: 'allowed', addresses }
    return {
      decision: 'refused',
      reason: `is at ${first}, which is not on the public internet`,
      remedy: formatHostRule({ host: first, isWildcard: false, port: target.port }),
    }
  }

  #isPermitted(address: string, { host, port }: NetworkTarget, rule: HostRule): boolean {
    if (isPublicAddress(address)) return true
    // The owner of a public name decides where it leads. A name of the local network is meant to lead there.
    if (!rule.isWildcard && isLocalName(host) && isPrivateAddress(address)) return true
    return this.#rules.some((candidate) => matchesHostRule(candidate, { host: address, port }))
  }
}

/** Formats the narrowest rule that would allow a target; the port of https goes without saying. */
function formatRemedy(target: NetworkTarget): string {
  return target.port === HTTPS_PORT && isIP(target.host) !== 6 ? target.host : formatTarget(target)
}

function formatCause(error: unknown): string {
  const hasCode = error instanceof Error && 'code' in error && typeof error.code === 'string'
  return hasCode ? String(error.code) : String(error instanceof Error ? error.message : error)
}
