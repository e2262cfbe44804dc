import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { HttpRefusal } from '../../http/index.ts'
import { MAX_MESSAGE_BYTES } from '../limits.ts'
import type { OpenSession } from '../mcp-session.ts'
import { HttpSession } from './http-session.ts'
import { type AuthorizerOptions, RequestAuthorizer } from './request-authorizer.ts'
import { sendRefusal } from './send-refusal.ts'
import { type SessionLimits, SessionTable } from './session-table.ts'
import { SessionlessHandler } from './sessionless-handler.ts'
import { toWebRequest } from './web-messages.ts'

const ENDPOINT = '/mcp'
const DEFAULT_LIMITS: SessionLimits = { maxSessions: 64, maxIdleMs: 30 * 60_000 }

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

/**
 * Serves HTTP clients at `/mcp`: a session for each, and one for each request of clients of revision 2026-07-28.
 * Rejects if the port is not available.
 */
export async function serveHttp(
  open: OpenSession,
  { port, host = '127.0.0.1', token, maxBodyBytes = MAX_MESSAGE_BYTES, ...limits }: HttpOptions,
): Promise<HttpServer> {
  const allLimits = { ...DEFAULT_LIMITS, ...limits }
  const sessions = new SessionTable(allLimits)
  const sessionless = new SessionlessHandler(open, { maxBodyBytes, maxStreams: allLimits.maxSessions })
  const authorizer = new RequestAuthorizer({ token, host })
  const router = new RequestRouter({ sessions, sessionless, authorizer, open, maxBodyBytes })
  const server = createServer((request, response) => router.handle(request, response))
  server.listen(port, host)
  await once(server, 'listening')
  const close = async () => {
    await sessions[Symbol.asyncDispose]()
    await sessionless[Symbol.asyncDispose]()
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

interface RouterParts {
  readonly sessions: SessionTable
  /** Serves requests without a session. */
  readonly sessionless: SessionlessHandler
  readonly authorizer: RequestAuthorizer
  readonly open: OpenSession
  readonly maxBodyBytes: number
}

/** Routes each request: authorization, endpoint, revision, session. */
class RequestRouter {
  readonly #parts: RouterParts

  constructor(parts: RouterParts) {
    this.#parts = parts
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const refusal =
        this.#parts.authorizer.authorize(request) ??
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
    if (id === undefined) return this.#routeWithoutSession(request, response)
    const session = typeof id === 'string' ? this.#parts.sessions.get(id) : undefined
    if (session === undefined) {
      return { status: 404, message: 'there is no such session, or it has ended; start a new one' }
    }
    await session.handle(toWebRequest(request), response)
    return null
  }

  async #routeWithoutSession(
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<HttpRefusal | null> {
    if (request.method !== 'POST') {
      return {
        status: 400,
        message: 'the header Mcp-Session-Id is missing; a session begins with initialize',
      }
    }
    const closed = new AbortController()
    response.once('close', () => closed.abort())
    const webRequest = toWebRequest(request, closed.signal)
    if (!(await this.#parts.sessionless.accepts(webRequest))) return this.#startSession(webRequest, response)
    await this.#parts.sessionless.handle(webRequest, response)
    return null
  }

  async #startSession(request: Request, response: ServerResponse): Promise<HttpRefusal | null> {
    const { sessions, open, maxBodyBytes } = this.#parts
    if (!(await sessions.makeRoom())) {
      return {
        status: 503,
        message: 'there are too many sessions; end one',
        headers: { 'retry-after': '10' },
      }
    }
    const session = await HttpSession.start(open(), {
      maxBodyBytes,
      onOpen: (id, opened) => sessions.add(id, opened),
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
