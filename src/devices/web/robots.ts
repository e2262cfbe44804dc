import robotsParser from 'robots-parser'
import { VfsError } from '../../vfs/index.ts'
import { BoundedCache } from './bounded-cache.ts'
import type { GuardedGet } from './guarded-get.ts'

const MAX_BYTES = 512 * 1024
const MAX_AGE_MS = 60 * 60 * 1000
const MAX_SITES = 500

/** Rules of a site: the text of its robots.txt, empty if it has none, or the status of a server that failed. */
type RobotsRules = { readonly text: string } | { readonly status: number }

/** Enforces robots.txt (RFC 9309). */
export class Robots {
  readonly #get: GuardedGet
  readonly #userAgent: string
  readonly #cache: BoundedCache<RobotsRules>

  constructor(get: GuardedGet, userAgent: string, now: () => number) {
    this.#get = get
    this.#userAgent = userAgent
    this.#cache = new BoundedCache({
      maxAgeMs: MAX_AGE_MS,
      maxEntries: MAX_SITES,
      maxWeight: 16 * 1024 * 1024,
      now,
    })
  }

  /** Checks a URL. EACCES if the site disallows it, EUNAVAILABLE if its robots.txt fails to load. */
  async assertAllowed(url: URL, signal: AbortSignal): Promise<void> {
    const rules = await this.#getRules(url, signal)
    if ('status' in rules) {
      const detail = `the site answered ${rules.status} for its robots.txt, so its pages cannot be fetched now`
      throw new VfsError('EUNAVAILABLE', url.href, { op: 'fetch', detail })
    }
    if (isAllowed(url, rules.text, this.#userAgent)) return
    const detail = 'the site asks robots not to fetch this page (robots.txt); look for it elsewhere'
    throw new VfsError('EACCES', url.href, { op: 'fetch', detail })
  }

  async #getRules(url: URL, signal: AbortSignal): Promise<RobotsRules> {
    const cached = this.#cache.get(url.origin)
    if (cached !== undefined) return cached
    const rules = await this.#fetchRules(getRobotsUrl(url), signal)
    // Failures are not cached: they may be short.
    if ('text' in rules) this.#cache.set(url.origin, rules, rules.text.length)
    return rules
  }

  async #fetchRules(url: URL, signal: AbortSignal): Promise<RobotsRules> {
    try {
      const { status, body } = await this.#get.get(url, { signal, maxBytes: MAX_BYTES })
      if (status >= 500) return { status }
      // A site without rules allows everything.
      return { text: status < 300 ? body.toString('utf8') : '' }
    } catch (error) {
      if (error instanceof VfsError && (error.code === 'EFBIG' || error.code === 'ELOOP')) return { text: '' }
      throw error
    }
  }
}

function isAllowed(url: URL, text: string, userAgent: string): boolean {
  const parse: unknown = robotsParser
  // Its types describe an ES module, but it is CommonJS.
  if (!isParser(parse))
    throw new VfsError('EINTERNAL', url.href, {
      op: 'fetch',
      detail: 'robots-parser has an unexpected interface',
    })
  return parse(getRobotsUrl(url).href, text).isAllowed(url.href, userAgent) !== false
}

function isParser(value: unknown): value is typeof robotsParser.default {
  return typeof value === 'function'
}

function getRobotsUrl({ origin }: URL): URL {
  return new URL('/robots.txt', origin)
}
