import { type ErrorCode, VfsError } from '../../vfs/index.ts'
import { BoundedCache } from './bounded-cache.ts'
import type { GuardedGet, HttpReply } from './guarded-get.ts'
import { parsePublicUrl } from './public-url.ts'
import { readPage } from './read-page.ts'
import type { Robots } from './robots.ts'

const MAX_AGE_MS = 15 * 60 * 1000
const MAX_PAGES = 200
const MAX_CACHED_CHARACTERS = 16 * 1024 * 1024

/** A fetched page as text. */
export interface FetchedPage {
  /** Final URL of the page. */
  readonly origin: string
  readonly title: string
  readonly contentType: string
  readonly text: string
}

export interface PageFetcherOptions {
  readonly maxBytes: number
  readonly timeoutMs: number
  readonly now: () => number
}

/** Fetches pages as text, and caches them for 15 minutes. */
export class PageFetcher {
  readonly #get: GuardedGet
  readonly #robots: Robots
  readonly #options: PageFetcherOptions
  readonly #cache: BoundedCache<FetchedPage>

  constructor(get: GuardedGet, robots: Robots, options: PageFetcherOptions) {
    this.#get = get
    this.#robots = robots
    this.#options = options
    const bounds = { maxAgeMs: MAX_AGE_MS, maxEntries: MAX_PAGES, maxWeight: MAX_CACHED_CHARACTERS }
    this.#cache = new BoundedCache({ ...bounds, now: options.now })
  }

  /**
   * Fetches a page. ETIMEDOUT if DNS, robots.txt, redirects, the page and its conversion together take too long;
   * ENOTSUP if it is no text; an error by its HTTP status.
   */
  async fetch(address: string, outer: AbortSignal): Promise<FetchedPage> {
    const url = parsePublicUrl(address)
    const cached = this.#cache.get(url.href)
    if (cached !== undefined) return cached
    const timeout = AbortSignal.timeout(this.#options.timeoutMs)
    try {
      const page = await this.#fetchPage(url, AbortSignal.any([outer, timeout]))
      this.#cache.set(url.href, page, page.text.length)
      return page
    } catch (error) {
      outer.throwIfAborted()
      throw timeout.aborted ? this.#createTimeoutError(url) : error
    }
  }

  async #fetchPage(url: URL, signal: AbortSignal): Promise<FetchedPage> {
    const { maxBytes } = this.#options
    const permit = (next: URL) => this.#robots.assertAllowed(next, signal)
    return readReply(await this.#get.get(url, { signal, maxBytes, permit }), signal)
  }

  #createTimeoutError({ href }: URL): VfsError {
    const detail = `the page took longer than ${this.#options.timeoutMs} ms; try again later, or another page`
    return new VfsError('ETIMEDOUT', href, { op: 'fetch', detail })
  }
}

async function readReply(reply: HttpReply, signal: AbortSignal): Promise<FetchedPage> {
  const { status, contentType, body } = reply
  const origin = reply.url.href
  if (status < 200 || status > 299) {
    const detail = `the server answered ${status}; ${status === 404 ? 'look for another page' : 'try another page'}`
    throw new VfsError(toErrorCode(status), origin, { op: 'fetch', detail })
  }
  const [type = ''] = contentType.toLowerCase().split(';')
  const kind = type.trim()
  if (isHtml(kind, body)) {
    const { title, text } = await readPage({ html: decodeBody(body, contentType), url: origin }, signal)
    return { origin, title, contentType: kind || 'text/html', text }
  }
  if (isText(kind)) return { origin, title: '', contentType: kind, text: decodeBody(body, contentType) }
  const detail = `the page is ${kind || 'of an unknown type'} with ${body.length} bytes; only text can be read`
  throw new VfsError('ENOTSUP', origin, { op: 'fetch', detail })
}

function toErrorCode(status: number): ErrorCode {
  if (status === 404 || status === 410) return 'ENOENT'
  return status === 401 || status === 403 || status === 451 ? 'EACCES' : 'EUNAVAILABLE'
}

function isHtml(type: string, body: Buffer): boolean {
  if (type !== '') return type === 'text/html' || type === 'application/xhtml+xml'
  return /^\s*<(?:!doctype html|html)/i.test(body.subarray(0, 1000).toString('latin1'))
}

function isText(type: string): boolean {
  return (
    type.startsWith('text/') || /^application\/(?:[\w.-]+\+)?(?:json|xml|yaml|javascript|toml)$/.test(type)
  )
}

/** Decodes a body in its declared encoding; UTF-8 if that is missing or unknown. */
function decodeBody(body: Buffer, contentType: string): string {
  const head = body.subarray(0, 1024).toString('latin1')
  const [, label] =
    /charset=["']?([\w-]+)/i.exec(contentType) ?? /<meta[^>]+charset=["']?([\w-]+)/i.exec(head) ?? []
  try {
    return new TextDecoder(label ?? 'utf-8').decode(body)
  } catch {
    return new TextDecoder().decode(body)
  }
}
