import { Readable } from 'node:stream'
import { z } from 'zod'
import { isVfsError, VfsError } from '../../vfs/index.ts'
import { readBounded } from './read-body.ts'

const TIMEOUT_MS = 15_000
const MAX_BYTES = 2 * 1024 * 1024

/** A search for pages. */
export interface WebSearchQuery {
  readonly query: string
  /** Domains to include, with their subdomains; all when empty. */
  readonly allowedDomains: readonly string[]
  readonly blockedDomains: readonly string[]
}

/** A page that a search found. */
export interface SearchHit {
  readonly title: string
  readonly url: string
  readonly snippet: string
}

/** Searches the web. */
export type WebSearch = (query: WebSearchQuery, signal: AbortSignal) => Promise<readonly SearchHit[]>

/** An endpoint that returns search results as JSON. */
export interface SearchEndpoint {
  /** URL to query with `?q=…&format=json`; configured by a person, so it may be local. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
}

const answerSchema = z.object({
  results: z.array(
    z.object({
      title: z.string().default(''),
      url: z.string(),
      content: z.string().nullish(),
      snippet: z.string().nullish(),
    }),
  ),
})

/**
 * Creates a search through an endpoint that returns `{"results": [{"title", "url", "content"}]}`, as SearXNG does, and
 * gateways to other engines can. EUNAVAILABLE if the endpoint fails or returns anything else.
 */
export function createEndpointSearch({ url, headers = {} }: SearchEndpoint): WebSearch {
  return async ({ query, allowedDomains, blockedDomains }, signal) => {
    const allowed = allowedDomains.map((domain) => `site:${domain}`).join(' OR ')
    const blocked = blockedDomains.map((domain) => `-site:${domain}`).join(' ')
    const queryUrl = new URL(url)
    queryUrl.searchParams.set('q', [query, allowed, blocked].filter((part) => part !== '').join(' '))
    queryUrl.searchParams.set('format', 'json')
    const parsed = answerSchema.safeParse(await fetchJson(queryUrl, headers, signal))
    if (!parsed.success)
      throw createUnavailableError(url, 'its answer is not {"results": [{"title", "url", "content"}]}')
    return parsed.data.results.map(({ title, url: origin, content, snippet }) => ({
      title,
      url: origin,
      snippet: content ?? snippet ?? '',
    }))
  }
}

/** Keeps the hits in the requested domains, in case the engine ignored the filter. */
export function filterByDomain(
  hits: readonly SearchHit[],
  { allowedDomains, blockedDomains }: WebSearchQuery,
): SearchHit[] {
  return hits.filter(({ url }) => {
    if (!URL.canParse(url)) return false
    const { hostname } = new URL(url)
    const isIn = (domain: string) => `.${hostname}`.endsWith(`.${domain.toLowerCase()}`)
    return (allowedDomains.length === 0 || allowedDomains.some(isIn)) && !blockedDomains.some(isIn)
  })
}

async function fetchJson(
  url: URL,
  headers: Readonly<Record<string, string>>,
  outer: AbortSignal,
): Promise<unknown> {
  const signal = AbortSignal.any([outer, AbortSignal.timeout(TIMEOUT_MS)])
  try {
    const response = await fetch(url, { headers, signal, redirect: 'error' })
    if (!response.ok) {
      await response.body?.cancel()
      throw new Error(`it answered ${response.status}`)
    }
    const body = await readBounded(response.body ?? Readable.from([]), url.origin, MAX_BYTES)
    return JSON.parse(body.toString())
  } catch (error) {
    outer.throwIfAborted()
    if (isVfsError(error, 'EFBIG'))
      throw createUnavailableError(url.origin, `its answer exceeds ${MAX_BYTES} bytes`)
    throw createUnavailableError(url.origin, error instanceof Error ? error.message : String(error))
  }
}

function createUnavailableError(url: string, reason: string): VfsError {
  const detail = `the search endpoint does not work (${reason}); check its configuration`
  return new VfsError('EUNAVAILABLE', url, { op: 'search', detail })
}
