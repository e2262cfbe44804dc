import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { MAX_MESSAGE_BYTES } from '../limits.ts'
import type { McpSession } from '../mcp-session.ts'
import { type HttpRefusal, sendRefusal } from './http-refusal.ts'
import { HttpSession } from './http-session.ts'
import { type AuthorizerOptions, RequestAuthorizer } from './request-authorizer.ts'
import { type SessionLimits, SessionTable } from './session-table.ts'

const ENDPOINT = '/mcp'

/** Options of `serveHttp`. */
export interface HttpOptions extends Partial<SessionLimits>, Pick<AuthorizerOptions, 'token'> {
  /** Port; 0 for any free one. */
  readonly port: number
  /** Host to listen on; the loopback when absent. */
  readonly host?: string
  readonly maxBodyBytes?: number
}

/** A listening server. */
export interface HttpServer extends AsyncDisposable {
  /** URL for clients. */
  readonly url: string
  /** Number of sessions. */
  readonly sessions: number
  /** Ends every session and stops listening. */
  close(): Promise<void>
}

/** Serves a session to each HTTP client at `/mcp`. Rejects if the port is not available. */
export async function serveHttp(
  open: () => McpSession,
  { port, host = '127.0.0.1', token, maxBodyBytes = MAX_MESSAGE_BYTES, ...limits }: HttpOptions,
): Promise<HttpServer> {
  const sessions = new SessionTable({ maxSessions: 64, maxIdleMs: 30 * 60_000, ...limits })
  const entrance = new RequestRouter(sessions, new RequestAuthorizer({ token, host }), open, maxBodyBytes)
  const server = createServer((request, response) => entrance.handle(request, response))
  server.listen(port, host)
  await once(server, 'listening')
  const close = async () => {
    await sessions[Symbol.asyncDispose]()
    await closeServer(server)
  }
  return {
    url: getServerUrl(server),
    get sessions() {
      return sessions.size
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Routes each request: authorization, endpoint, session. */
class RequestRouter {
  readonly #sessions: SessionTable
  readonly #authorizer: RequestAuthorizer
  readonly #open: () => McpSession
  readonly #maxBodyBytes: number

  constructor(
    sessions: SessionTable,
    admission: RequestAuthorizer,
    open: () => McpSession,
    maxBodyBytes: number,
  ) {
    this.#sessions = sessions
    this.#authorizer = admission
    this.#open = open
    this.#maxBodyBytes = maxBodyBytes
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const refusal =
        this.#authorizer.authorize(request) ??
        checkEndpoint(request) ??
        (await this.#route(request, response))
      if (refusal !== null) sendRefusal(response, refusal)
    } catch {
      // A client disconnected, or there is a bug here: other clients must not notice.
      if (!response.headersSent)
        sendRefusal(response, { status: 400, message: 'the request could not be read' })
      else response.destroy()
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<HttpRefusal | null> {
    const id = request.headers['mcp-session-id']
    if (id === undefined) return this.#startSession(request, response)
    const session = typeof id === 'string' ? this.#sessions.get(id) : undefined
    if (session === undefined) {
      return { status: 404, message: 'there is no such session, or it has ended; start a new one' }
    }
    await session.handle(request, response)
    return null
  }

  async #startSession(request: IncomingMessage, response: ServerResponse): Promise<HttpRefusal | null> {
    if (request.method !== 'POST') {
      return {
        status: 400,
        message: 'the header Mcp-Session-Id is missing; a session begins with initialize',
      }
    }
    if (!(await this.#sessions.makeRoom())) {
      return {
        status: 503,
        message: 'there are too many sessions; end one',
        headers: { 'retry-after': '10' },
      }
    }
    const session = await HttpSession.start(this.#open(), {
      maxBodyBytes: this.#maxBodyBytes,
      onOpen: (id, opened) => this.#sessions.add(id, opened),
    })
    await session.handle(request, response)
    // The request was not an initialization: the response said so, and the session is unused.
    if (session.id === undefined) await session.close()
    return null
  }
}

function checkEndpoint({ url = '/' }: IncomingMessage): HttpRefusal | null {
  const path = url.split('?', 1)[0]
  return path === ENDPOINT
    ? null
    : { status: 404, message: `there is nothing here; the endpoint is ${ENDPOINT}` }
}

function getServerUrl(server: Server): string {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}${ENDPOINT}`
}

async function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeAllConnections()
  await promise
}
