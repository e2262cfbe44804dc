import type { IncomingMessage } from 'node:http'
import { BearerToken, type HttpRefusal } from '../../http/index.ts'

export interface AuthorizerOptions {
  /** Token that a client must send; null allows every local client. */
  readonly token: string | null
  /** Host it listens on: accepted in requests besides the loopback names. */
  readonly host: string
}

const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]']
/** Matches a Host header: a name and optional port. Compared literally, without resolving. */
const HOST = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/
/** Captures the host of an Origin header, which `HOST` then checks. */
const ORIGIN = /^https?:\/\/(.*)$/i

/**
 * Decides which requests are served. A web page that reaches this machine under its own name is refused by
 * that name, even with the token; all others need the token.
 */
export class RequestAuthorizer {
  readonly #token: BearerToken | null
  readonly #names: ReadonlySet<string>

  constructor({ token, host }: AuthorizerOptions) {
    this.#token = token === null ? null : new BearerToken(token)
    this.#names = new Set([...LOOPBACK, (host.includes(':') ? `[${host}]` : host).toLowerCase()])
  }

  /** Returns the refusal of a request; null if it is authorized. */
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
    return this.#token === null || this.#token.isIn(authorization) ? null : UNAUTHORIZED
  }

  #isOwnHost(host: string): boolean {
    return this.#names.has(HOST.exec(host)?.[1]?.toLowerCase() ?? '')
  }
}

const UNAUTHORIZED: HttpRefusal = {
  status: 401,
  message:
    'a token is needed: send the header Authorization: Bearer <token>, with the token coppice mcp was given or printed',
  headers: { 'www-authenticate': 'Bearer realm="coppice"' },
}
