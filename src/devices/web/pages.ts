import { type ErrorCode, VfsError } from '../../vfs/index.ts'
import { checkedUrl } from './checked-url.ts'
import type { GuardedGet, Reply } from './guarded-get.ts'
import { readPage } from './read-page.ts'
import { Recent } from './recent.ts'
import type { Robots } from './robots.ts'

const MAX_AGE_MS = 15 * 60 * 1000
const MAX_PAGES = 200
const MAX_KEPT_CHARACTERS = 16 * 1024 * 1024

/** A page as it is told. */
export interface FetchedPage {
  /** Where it came from in the end. */
  readonly origin: string
  readonly title: string
  readonly contentType: string
  readonly text: string
}

export interface PagesOptions {
  readonly maxBytes: number
  readonly timeoutMs: number
  readonly now: () => number
}

/** Pages of the web as text, each fetched at most once in a quarter of an hour. */
export class Pages {
  readonly #get: GuardedGet
  readonly #robots: Robots
  readonly #options: PagesOptions
  readonly #kept: Recent<FetchedPage>

  constructor(get: GuardedGet, robots: Robots, options: PagesOptions) {
    this.#get = get
    this.#robots = robots
    this.#options = options
    const bounds = { maxAgeMs: MAX_AGE_MS, maxEntries: MAX_PAGES, maxWeight: MAX_KEPT_CHARACTERS }
    this.#kept = new Recent({ ...bounds, now: options.now })
  }

  /** ETIMEDOUT for everything together: looking up, robots.txt, redirects, the page, and reading it. */
  async fetch(text: string, outer: AbortSignal): Promise<FetchedPage> {
    const url = checkedUrl(text)
    const kept = this.#kept.get(url.href)
    if (kept !== undefined) return kept
    const late = AbortSignal.timeout(this.#options.timeoutMs)
    try {
      const page = await this.#page(url, AbortSignal.any([outer, late]))
      this.#kept.set(url.href, page, page.text.length)
      return page
    } catch (error) {
      outer.throwIfAborted()
      throw late.aborted ? this.#tooLate(url) : error
    }
  }

  async #page(url: URL, signal: AbortSignal): Promise<FetchedPage> {
    const { maxBytes } = this.#options
    const permit = (next: URL) => this.#robots.assertAllowed(next, signal)
    return pageOf(await this.#get.get(url, { signal, maxBytes, permit }), signal)
  }

  #tooLate({ href }: URL): VfsError {
    const detail = `it took longer than ${this.#options.timeoutMs} ms; try again later, or another page`
    return new VfsError('ETIMEDOUT', href, { op: 'fetch', detail })
  }
}

async function pageOf(reply: Reply, signal: AbortSignal): Promise<FetchedPage> {
  const { status, contentType, body } = reply
  const origin = reply.url.href
  if (status < 200 || status > 299) {
    const detail = `the server answered ${status}; ${status === 404 ? 'look for another page' : 'try another page'}`
    throw new VfsError(codeOf(status), origin, { op: 'fetch', detail })
  }
  const [type = ''] = contentType.toLowerCase().split(';')
  const kind = type.trim()
  if (isHtml(kind, body)) {
    const { title, text } = await readPage({ html: decoded(body, contentType), url: origin }, signal)
    return { origin, title, contentType: kind || 'text/html', text }
  }
  if (isText(kind)) return { origin, title: '', contentType: kind, text: decoded(body, contentType) }
  const detail = `it is ${kind || 'of no known type'} with ${body.length} bytes, and only text can be read`
  throw new VfsError('ENOTSUP', origin, { op: 'fetch', detail })
}

function codeOf(status: number): ErrorCode {
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

/** In the encoding it says it has; UTF-8 if it says none that is known. */
function decoded(body: Buffer, contentType: string): string {
  const head = body.subarray(0, 1024).toString('latin1')
  const [, label] =
    /charset=["']?([\w-]+)/i.exec(contentType) ?? /<meta[^>]+charset=["']?([\w-]+)/i.exec(head) ?? []
  try {
    return new TextDecoder(label ?? 'utf-8').decode(body)
  } catch {
    return new TextDecoder().decode(body)
  }
}
