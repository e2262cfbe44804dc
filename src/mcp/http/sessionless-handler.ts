import type { ServerResponse } from 'node:http'
import {
  createMcpHandler,
  isLegacyRequest,
  isSpecType,
  type McpHttpHandler,
  type SubscriptionFilter,
} from '@modelcontextprotocol/server'
import { translateErrors } from '../client-error.ts'
import type { McpSession, OpenSession } from '../mcp-session.ts'
import { EventBusTransport } from './event-bus-transport.ts'
import { sendWebResponse } from './web-messages.ts'

const METHOD_HEADER = 'mcp-method'
const LISTEN_METHOD = 'subscriptions/listen'

export interface SessionlessHandlerOptions {
  readonly maxBodyBytes: number
  /** Limit of open streams of notifications. */
  readonly maxStreams: number
}

/**
 * Serves clients of revision 2026-07-28, which have no session: every request names its client and is complete in
 * itself. Each gets a session of its own, which ends with the response.
 */
export class SessionlessHandler implements AsyncDisposable {
  readonly #open: OpenSession
  readonly #handler: McpHttpHandler
  readonly #maxBodyBytes: number
  /** Session that watches for all streams of notifications; it starts with the first of them. */
  #watcher: Promise<McpSession> | undefined

  constructor(open: OpenSession, { maxBodyBytes, maxStreams }: SessionlessHandlerOptions) {
    this.#open = open
    this.#maxBodyBytes = maxBodyBytes
    this.#handler = createMcpHandler(() => this.#openServer(), {
      legacy: 'reject',
      maxRequestBodySize: maxBodyBytes,
      maxSubscriptions: maxStreams,
    })
  }

  /** Reports whether a request is of this revision. Leaves its body to be read. */
  async accepts(request: Request): Promise<boolean> {
    return !(await isLegacyRequest(request, undefined, { maxRequestBodySize: this.#maxBodyBytes }))
  }

  /** Serves a request. The client cancels it by closing the connection. */
  async handle(request: Request, response: ServerResponse): Promise<void> {
    const isListening = request.headers.get(METHOD_HEADER) === LISTEN_METHOD
    const copy = isListening ? request.clone() : undefined
    const result = await this.#handler.fetch(request)
    if (copy !== undefined && result.ok) await this.#listen(copy)
    await sendWebResponse(response, result)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handler.close()
    await (await this.#watcher)?.close()
  }

  #openServer(): McpSession['server'] {
    const { server } = this.#open({ canSendRequests: false, isSingleRequest: true })
    const connect = server.connect.bind(server)
    server.connect = (transport) => connect(translateErrors(transport))
    return server
  }

  /** Follows the resources that an accepted request names, until its connection closes. */
  async #listen(request: Request): Promise<void> {
    const filter = toFilter(await request.json())
    if (filter === undefined) return
    this.#watcher ??= this.#openWatcher()
    const watcher = await this.#watcher
    if (!request.signal.aborted) watcher.listen(filter, request.signal)
  }

  async #openWatcher(): Promise<McpSession> {
    const session = this.#open({ canSendRequests: false })
    await session.connect(new EventBusTransport(this.#handler.bus))
    return session
  }
}

function toFilter(message: unknown): SubscriptionFilter | undefined {
  return isSpecType.SubscriptionsListenRequest(message) ? message.params.notifications : undefined
}
