import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { HttpRefusal } from './http-refusal.ts'

export interface AuthorizerOptions {
  /** What a client has to show; null lets everybody on this machine in. */
  readonly token: string | null
  /** The host it listens on: a name besides those of the loopback that a request may call it by. */
  readonly host: string
}

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
/** What a request is sent to: a name and perhaps a port. Taken literally: what only resolves to a name is another. */
const HOST = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/
/** Where a page is from: a host of the web, and nothing beside it, such as a user or a path. */
const ORIGIN = /^https?:\/\/(.*)$/i

/**
 * Decides which requests are heard. A web page that reaches this machine under a name of its own is refused by the
 * name, whatever it knows; anybody else needs the token.
 */
export class RequestAuthorizer {
  readonly #token: Buffer | null
  readonly #names: ReadonlySet<string>

  constructor({ token, host }: AuthorizerOptions) {
    this.#token = token === null ? null : digest(token)
    this.#names = new Set([...LOOPBACK, (host.includes(':') ? `[${host}]` : host).toLowerCase()])
  }

  /** Null for a request that may pass. */
  authorize({ headers }: IncomingMessage): HttpRefusal | null {
    const { host, origin, authorization } = headers
    if (host === undefined || !this.#isOwnHost(host)) {
      return {
        status: 403,
        message: `the host '${host ?? ''}' is not served here; use 127.0.0.1 or localhost`,
      }
    }
    if (origin !== undefined && !this.#isOwnHost(ORIGIN.exec(origin)?.[1] ?? '')) {
      return { status: 403, message: `pages of '${origin}' are not served here` }
    }
    return this.#isAuthorized(authorization) ? null : UNAUTHORIZED
  }

  #isOwnHost(host: string): boolean {
    return this.#names.has(HOST.exec(host)?.[1]?.toLowerCase() ?? '')
  }

  #isAuthorized(authorization: string | undefined): boolean {
    if (this.#token === null) return true
    const [, shown] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? []
    // Digests have one length, so the time tells nothing of the token, not even how long it is.
    return shown !== undefined && timingSafeEqual(digest(shown), this.#token)
  }
}

const UNAUTHORIZED: HttpRefusal = {
  status: 401,
  message:
    'a token is needed: send the header Authorization: Bearer <token>, with the token coppice mcp was given or printed',
  headers: { 'www-authenticate': 'Bearer realm="coppice"' },
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
