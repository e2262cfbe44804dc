import { lookup } from 'node:dns/promises'

/** Resolves the addresses of a host. Rejects or returns none if it has none. */
export type ResolveAddresses = (host: string) => Promise<readonly string[]>

/** Time for which addresses are cached. A page loads a hundred files of one host, and each lookup takes a thread. */
const CACHE_MS = 10_000
const MAX_CACHED = 1000

export const resolveByHost: ResolveAddresses = async (host) => {
  const found = await lookup(host, { all: true })
  return found.map(({ address }) => address)
}

/** Returns a resolver that looks a name up once for all callers, and caches its addresses for a short time. */
export function cacheAddresses(resolve: ResolveAddresses): ResolveAddresses {
  const cached = new Map<string, { readonly until: number; readonly addresses: Promise<readonly string[]> }>()
  return (host) => {
    const entry = cached.get(host)
    if (entry !== undefined && performance.now() < entry.until) return entry.addresses
    if (cached.size >= MAX_CACHED) cached.clear()
    const addresses = resolve(host)
    cached.set(host, { until: performance.now() + CACHE_MS, addresses })
    addresses.catch(() => cached.delete(host))
    return addresses
  }
}
