import { lookup } from 'node:dns/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from '../../network/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { createUrlError, getHost, parsePublicUrl } from './public-url.ts'
import { ACCEPTED_ENCODINGS, readBody } from './read-body.ts'

const MAX_REDIRECTS = 5
const REDIRECTS = [301, 302, 303, 307, 308]

export interface HostAddress {
  readonly address: string
  readonly family: number
}

/** Resolves the addresses of a host. */
export type ResolveHost = (host: string) => Promise<readonly HostAddress[]>

export interface GuardedGetOptions {
  readonly userAgent: string
  readonly resolve?: ResolveHost | undefined
  /** Allows addresses that are not public. For tests, which have no public server. */
  readonly isAllowed?: ((address: string) => boolean) | undefined
}

/** Final response of a server. */
export interface HttpReply {
  /** URL after all redirects. */
  readonly url: URL
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
}

export interface GetCall {
  readonly signal: AbortSignal
  readonly maxBytes: number
  /** Called with each URL before the request; throws to refuse it. */
  permit?(url: URL): Promise<void>
}

/** GET requests to the public web alone, without cookies, credentials or a proxy. */
export class GuardedGet {
  readonly #options: GuardedGetOptions

  constructor(options: GuardedGetOptions) {
    this.#options = options
  }

  /**
   * Fetches a URL. EACCES if it is not public, EUNAVAILABLE if the server cannot be reached or the connection
   * breaks off, EFBIG if the body exceeds `maxBytes`, EIO if it cannot be decoded, ELOOP for too many redirects.
   */
  async get(start: URL, call: GetCall): Promise<HttpReply> {
    let url = start
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const addresses = await this.#resolvePublicAddresses(url, call.signal)
      await call.permit?.(url)
      const message = await this.#sendRequest(url, addresses, call.signal)
      const { statusCode: status = 0, headers } = message
      if (!REDIRECTS.includes(status) || headers.location === undefined) {
        const body = await this.#readBody(message, url, call)
        return { url, status, contentType: headers['content-type'] ?? '', body }
      }
      message.destroy()
      url = parsePublicUrl(headers.location, url)
    }
    throw new VfsError('ELOOP', start.href, { op: 'fetch', detail: `more than ${MAX_REDIRECTS} redirects` })
  }

  async #readBody(message: IncomingMessage, url: URL, { maxBytes, signal }: GetCall): Promise<Buffer> {
    try {
      return await readBody(message, url.href, maxBytes)
    } catch (error) {
      if (error instanceof VfsError || signal.aborted) throw error
      throw createUnavailableError(url, 'the connection broke off', error)
    }
  }

  /** Resolves a URL's host; refuses the name if any of its addresses is not public. */
  async #resolvePublicAddresses(url: URL, signal: AbortSignal): Promise<readonly HostAddress[]> {
    const host = getHost(url)
    const family = isIP(host)
    const addresses = family === 0 ? await this.#lookUpHost(url, host, signal) : [{ address: host, family }]
    const { isAllowed = () => false } = this.#options
    const nonPublic = addresses.find(({ address }) => !isPublicAddress(address) && !isAllowed(address))
    if (nonPublic === undefined) return addresses
    const detail = `'${host}' is at ${nonPublic.address}, which is not on the public internet; only public addresses are fetched`
    throw createUrlError('EACCES', url.href, detail)
  }

  async #lookUpHost(url: URL, host: string, signal: AbortSignal): Promise<readonly HostAddress[]> {
    const { resolve = resolveHost } = this.#options
    const addresses = await rejectOnAbort(signal, resolve(host)).catch((error: unknown) => {
      signal.throwIfAborted()
      throw createUnreachableError(url, error)
    })
    if (addresses.length === 0) throw createUnreachableError(url, new Error(`'${host}' has no address`))
    return addresses
  }

  #sendRequest(url: URL, addresses: readonly HostAddress[], signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const send = url.protocol === 'https:' ? httpsRequest : httpRequest
      const request = send(url, {
        // A new connection to the checked address: resolving the name again may lead elsewhere.
        agent: false,
        lookup: createPinnedLookup(addresses),
        signal,
        headers: {
          'user-agent': this.#options.userAgent,
          accept: 'text/html, text/plain, text/markdown, application/json, */*;q=0.1',
          'accept-encoding': ACCEPTED_ENCODINGS,
        },
      })
      request.once('response', resolve)
      request.on('error', (error) => reject(signal.aborted ? error : createUnreachableError(url, error)))
      request.end()
    })
  }
}

function createPinnedLookup(addresses: readonly HostAddress[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses
    if (options.all) callback(null, [...addresses])
    else callback(null, first?.address ?? '', first?.family)
  }
}

async function resolveHost(host: string): Promise<readonly HostAddress[]> {
  return lookup(host, { all: true })
}

function rejectOnAbort<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.throwIfAborted()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

function createUnreachableError(url: URL, cause: unknown): VfsError {
  return createUnavailableError(url, 'the server cannot be reached', cause)
}

function createUnavailableError(url: URL, problem: string, cause: unknown): VfsError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new VfsError('EUNAVAILABLE', url.href, { op: 'fetch', detail: `${problem}: ${reason}`, cause })
}
