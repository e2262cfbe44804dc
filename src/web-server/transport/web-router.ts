import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpRefusal } from '../../http/index.ts'
import { isOwnProgram } from '../../network/index.ts'
import { API_PREFIX, EVENTS_PATH, SESSION_PATH, type WebSession } from '../../web-api/index.ts'
import type { EventLog } from './event-log.ts'
import { EventStreams } from './event-streams.ts'
import type { OneTimeCodes } from './one-time-codes.ts'
import type { PageFile } from './page-files.ts'
import { parseQuery } from './parse-query.ts'
import { readJsonBody } from './read-body.ts'
import { RequestGate, type RequestKind } from './request-gate.ts'
import { sendFile, sendJson, sendRefusal, toErrorResponse } from './send-response.ts'
import { SessionTokens } from './session-tokens.ts'

/** Requests that are worked on at once. Those without a token cannot keep others out. */
const MAX_ACTIVE = { session: 8, api: 32 } as const
/** Limits of bodies: a code, or an edited file with its quotes. */
const MAX_BODY_BYTES = { session: 1024, api: 8 * 1024 * 1024 } as const

/** A method of the API. */
export interface HandledMethod {
  readonly verb: 'GET' | 'POST'
  /** True if its result is sent without another redaction, which would hide parts of a command from its reviewer. */
  readonly isExact?: boolean
  /**
   * @param params the JSON of a POST; for a GET, texts by name.
   * @param signal aborts when the page leaves.
   */
  run(params: unknown, signal: AbortSignal): Promise<unknown>
}

export interface WebContentOptions {
  /** Files of the page, by the path of their address. */
  readonly page: ReadonlyMap<string, PageFile>
  readonly methods: ReadonlyMap<string, HandledMethod>
  readonly events: EventLog
  /** Formats every result, without secrets. */
  readonly toJson: (value: unknown) => string
}

/** Admits each request by its kind, and routes it to a file of the page, a new session, the events or a method. */
export class WebRouter {
  readonly #gate: RequestGate
  readonly #tokens = new SessionTokens()
  readonly #codes: OneTimeCodes
  readonly #options: WebContentOptions
  readonly #streams: EventStreams
  readonly #active = { session: 0, api: 0 }
  /** Connections with a refused request. What follows on them may be a part of it. */
  readonly #refused = new WeakSet<Socket>()

  constructor(host: string, codes: OneTimeCodes, options: WebContentOptions) {
    this.#gate = new RequestGate(host, this.#tokens)
    this.#codes = codes
    this.#options = options
    this.#streams = new EventStreams(options.events, options.toJson)
  }

  /** Number of pages that listen to events. */
  get streams(): number {
    return this.#streams.size
  }

  close(): void {
    this.#streams.close()
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#refused.has(request.socket)) {
      response.destroy()
      return
    }
    const [path = '', query = ''] = splitTarget(request.url ?? '')
    const kind = getKind(path)
    try {
      const refusal =
        this.#gate.check(request, kind) ?? (await this.#route(request, response, kind, path, query))
      if (refusal === null) return
      this.#refused.add(request.socket)
      sendRefusal(response, refusal)
    } catch (error) {
      this.#sendError(request, response, error)
    }
  }

  async #route(
    request: IncomingMessage,
    response: ServerResponse,
    kind: RequestKind,
    path: string,
    query: string,
  ): Promise<HttpRefusal | null> {
    if (kind === 'page') return this.#sendPage(response, path)
    if (path === EVENTS_PATH) return this.#openStream(request, response, query)
    if (this.#active[kind] >= MAX_ACTIVE[kind]) return BUSY
    this.#active[kind]++
    try {
      if (kind === 'session') return await this.#startSession(request, response)
      return await this.#callMethod(request, response, path.slice(API_PREFIX.length), query)
    } finally {
      this.#active[kind]--
    }
  }

  #sendPage(response: ServerResponse, path: string): HttpRefusal | null {
    const { page } = this.#options
    const file = page.get(path)
    if (file === undefined) return page.size === 0 ? NO_PAGE : NOTHING_HERE
    sendFile(response, file)
    return null
  }

  async #startSession(request: IncomingMessage, response: ServerResponse): Promise<HttpRefusal | null> {
    const body = await readJsonBody(request, MAX_BODY_BYTES.session)
    const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined
    if (typeof code !== 'string' || !this.#codes.use(code)) return USED_CODE
    // Only for a right code: `isOwnProgram` searches all connections of the machine, which no stranger may make it do.
    if (!isOwnProgram(request.socket)) return OTHER_USER
    const session: WebSession = { token: this.#tokens.create() }
    // Not redacted: it looks like a secret, because it is one.
    sendJson(response, 200, JSON.stringify(session))
    return null
  }

  #openStream(
    { method, headers }: IncomingMessage,
    response: ServerResponse,
    query: string,
  ): HttpRefusal | null {
    if (method !== 'GET') return NO_METHOD
    if (this.#streams.isFull) return BUSY
    const last = headers['last-event-id']
    this.#streams.open(response, typeof last === 'string' ? last : parseQuery(query)['after'])
    return null
  }

  async #callMethod(
    request: IncomingMessage,
    response: ServerResponse,
    name: string,
    query: string,
  ): Promise<HttpRefusal | null> {
    const method = this.#options.methods.get(name)
    if (method === undefined || method.verb !== request.method) return NO_METHOD
    const closed = new AbortController()
    response.once('close', () => closed.abort())
    const params = method.verb === 'GET' ? parseQuery(query) : await readJsonBody(request, MAX_BODY_BYTES.api)
    const result = await method.run(params, closed.signal)
    sendJson(response, 200, method.isExact === true ? JSON.stringify(result) : this.#options.toJson(result))
    return null
  }

  #sendError(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    if (response.headersSent) {
      response.destroy()
      return
    }
    const { status, body } = toErrorResponse(error)
    // An unread body would be taken for the next request.
    if (!request.complete) response.setHeader('connection', 'close')
    sendJson(response, status, this.#options.toJson(body))
  }
}

const BUSY: HttpRefusal = {
  status: 503,
  message: 'there are too many requests; close other pages',
  headers: { 'retry-after': '5' },
}
const NO_PAGE: HttpRefusal = { status: 404, message: 'the page is not part of this installation' }
const NOTHING_HERE: HttpRefusal = { status: 404, message: 'there is nothing here' }
const NO_METHOD: HttpRefusal = { status: 404, message: 'there is no such method' }
const OTHER_USER: HttpRefusal = { status: 403, message: 'this page is for another user of this machine' }
const USED_CODE: HttpRefusal = {
  status: 401,
  message: 'this link was used already or is older than a minute; open the page again with: coppice ui',
}

function splitTarget(url: string): readonly string[] {
  const mark = url.indexOf('?')
  return mark === -1 ? [url] : [url.slice(0, mark), url.slice(mark + 1)]
}

function getKind(path: string): RequestKind {
  if (path === SESSION_PATH) return 'session'
  return path.startsWith(API_PREFIX) ? 'api' : 'page'
}
