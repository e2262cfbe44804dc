import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { McpSession } from '../mcp-session.ts'
import { RecentEvents } from './recent-events.ts'
import { sendWebResponse } from './web-messages.ts'

/** Delay before a client reconnects its stream. */
const RETRY_MS = 1000

export interface HttpSessionOptions {
  readonly maxBodyBytes: number
  /** Called once the client is initialized and the session has its id. */
  readonly onOpen: (id: string, session: HttpSession) => void
}

/** A client's session over HTTP: many requests, some of which stay open as streams. */
export class HttpSession {
  readonly #session: McpSession
  readonly #transport: WebStandardStreamableHTTPServerTransport
  #connections = 0
  #lastUsed = performance.now()

  private constructor(session: McpSession, transport: WebStandardStreamableHTTPServerTransport) {
    this.#session = session
    this.#transport = transport
  }

  /** Starts a session, which gets its id from the client's first request. */
  static async start(
    session: McpSession,
    { maxBodyBytes, onOpen }: HttpSessionOptions,
  ): Promise<HttpSession> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => onOpen(id, httpSession),
      eventStore: new RecentEvents(),
      retryInterval: RETRY_MS,
      maxRequestBodySize: maxBodyBytes,
    })
    const httpSession: HttpSession = new HttpSession(session, transport)
    await session.connect(transport)
    return httpSession
  }

  /** Id of the session; undefined until the client is initialized. */
  get id(): string | undefined {
    return this.#transport.sessionId
  }

  /** Aborted when the session ends. */
  get ended(): AbortSignal {
    return this.#session.signal
  }

  /** Time since which no request is open; undefined while one is. */
  get idleSince(): number | undefined {
    return this.#connections > 0 ? undefined : this.#lastUsed
  }

  async handle(request: Request, response: ServerResponse): Promise<void> {
    this.#connections++
    response.once('close', () => {
      this.#connections--
      this.#lastUsed = performance.now()
    })
    await sendWebResponse(response, await this.#transport.handleRequest(request))
  }

  async close(): Promise<void> {
    await this.#session.close()
  }
}
