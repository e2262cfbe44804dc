import type { IncomingMessage } from 'node:http'
import type { HttpRefusal } from '../../http/index.ts'
import type { SessionTokens } from './session-tokens.ts'

/** The kind of a request: for a file of the page, for a token, or for anything else. */
export type RequestKind = 'page' | 'session' | 'api'

const MAX_URL_LENGTH = 8192
/** Headers that have one value. Two of one could be read differently by a proxy and by us. */
const SINGLE_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'origin',
  'authorization',
  'content-length',
  'content-type',
  'sec-fetch-site',
  'transfer-encoding',
])
const JSON_TYPE = /^application\/json(?:; *charset=utf-8)?$/i
/** A path and a query in ASCII. A full address or an asterisk is none. */
const TARGET = /^\/[\x21-\x7e]*$/

/**
 * Admits requests: of our own page, under our own address, with a token. A page of another site that lets its name
 * point to this machine is refused by that name; a form or script of another site by its origin, and by the token it
 * lacks.
 */
export class RequestGate {
  readonly #host: string
  readonly #origin: string
  readonly #tokens: SessionTokens

  /** @param host the host and port of the server, as a browser sends them. */
  constructor(host: string, tokens: SessionTokens) {
    this.#host = host
    this.#origin = `http://${host}`
    this.#tokens = tokens
  }

  /** Returns the refusal of a request; null if it is admitted. */
  check(request: IncomingMessage, kind: RequestKind): HttpRefusal | null {
    return (
      checkForm(request) ??
      this.#checkSender(request, kind) ??
      checkMethod(request, kind) ??
      (kind === 'api' && !this.#tokens.areIn(request.headers.authorization) ? UNAUTHORIZED : null) ??
      checkBody(request)
    )
  }

  #checkSender({ headers }: IncomingMessage, kind: RequestKind): HttpRefusal | null {
    const { host, origin } = headers
    if (host !== this.#host) return refuse(403, `this host is not served here; use http://${this.#host}/`)
    if (origin !== undefined && origin !== this.#origin)
      return refuse(403, 'pages of other sites are not served here')
    const isOwn = isOwnSite(headers) || (kind === 'page' && isOpenedByPerson(headers))
    return isOwn ? null : refuse(403, 'requests of other sites are not served here')
  }
}

function isOwnSite({ 'sec-fetch-site': site }: IncomingMessage['headers']): boolean {
  return site === undefined || site === 'same-origin'
}

/**
 * True for an address that a person opens: from a terminal, or by the private file of `coppice ui`, which is no page of
 * ours. A site that leads there gets nothing by it, since the page has no rights before it has a token.
 */
function isOpenedByPerson(headers: IncomingMessage['headers']): boolean {
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = headers
  return site === 'none' || (mode === 'navigate' && destination === 'document')
}

/** Refuses what no browser sends to us: such requests try to be read in two ways. */
function checkForm({ headers, rawHeaders, url = '', httpVersion }: IncomingMessage): HttpRefusal | null {
  if (httpVersion !== '1.1') return refuse(400, 'only HTTP/1.1 is served here')
  if (url.length > MAX_URL_LENGTH || !TARGET.test(url)) return refuse(400, 'the address is not valid')
  const names = rawHeaders.filter((_value, index) => index % 2 === 0).map((name) => name.toLowerCase())
  const repeated = names.find((name, index) => SINGLE_HEADERS.has(name) && names.indexOf(name) !== index)
  if (repeated !== undefined) return refuse(400, `the header '${repeated}' was sent twice`)
  if (headers['transfer-encoding'] !== undefined)
    return refuse(411, 'send the length of the body; Transfer-Encoding is not supported')
  if (headers.upgrade !== undefined) return refuse(400, 'this server does not switch protocols')
  return headers.expect === undefined ? null : refuse(417, 'Expect is not supported')
}

function checkMethod({ method }: IncomingMessage, kind: RequestKind): HttpRefusal | null {
  const allowed = kind === 'page' ? ['GET'] : kind === 'session' ? ['POST'] : ['GET', 'POST']
  if (allowed.includes(method ?? '')) return null
  return {
    ...refuse(405, `the method is not supported; use ${allowed.join(' or ')}`),
    headers: { allow: allowed.join(', ') },
  }
}

function checkBody({ method, headers }: IncomingMessage): HttpRefusal | null {
  const { 'content-length': length, 'content-type': type, 'content-encoding': encoding } = headers
  if (method !== 'POST')
    return length === undefined || length === '0' ? null : refuse(400, 'a GET request has no body')
  if (type === undefined || !JSON_TYPE.test(type) || encoding !== undefined)
    return refuse(415, 'changes are sent as JSON, with Content-Type: application/json')
  return length === undefined ? refuse(411, 'send the length of the body') : null
}

function refuse(status: HttpRefusal['status'], message: string): HttpRefusal {
  return { status, message }
}

const UNAUTHORIZED: HttpRefusal = {
  status: 401,
  message: 'the session has ended; open the page again with: coppice ui',
}
