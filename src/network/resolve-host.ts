import { lookup } from 'node:dns/promises'

/** Resolves the addresses of a host. Rejects or returns none if it has none. */
export type ResolveAddresses = (host: string) => Promise<readonly string[]>

/** Time for which an answer holds. A page loads a hundred files of one host, and each lookup takes a thread. */
const CACHE_MS = 10_000
const MAX_CACHED = 1000

export const resolveByHost: ResolveAddresses = async (host) => {
  const found = await lookup(host, { all: true })
  return found.map(({ address }) => address)
}

/** Returns a resolver that asks once for all who wait for the same name, and keeps the answer for a short time. */
export function cacheAddresses(resolve: ResolveAddresses): ResolveAddresses {
  const cached = new Map<string, { readonly until: number; readonly addresses: Promise<readonly string[]> }>()
  return (host) => {
    const known = cached.get(host)
    if (known !== undefined && performance.now() < known.until) return known.addresses
    if (cached.size >= MAX_CACHED) cached.clear()
    const addresses = resolve(host)
    cached.set(host, { until: performance.now() + CACHE_MS, addresses })
    addresses.catch(() => cached.delete(host))
    return addresses
  }
}
