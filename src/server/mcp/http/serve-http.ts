import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { MAX_MESSAGE_BYTES } from '../limits.ts'
import type { McpSession } from '../session.ts'
import { Admission, type AdmissionOptions } from './admission.ts'
import { HttpSession } from './http-session.ts'
import { type Refusal, refuse } from './refusal.ts'
import { type SessionLimits, SessionTable } from './session-table.ts'

const ENDPOINT = '/mcp'

export interface HttpOptions extends Partial<SessionLimits>, Pick<AdmissionOptions, 'token'> {
  /** 0 takes any free port. */
  readonly port: number
  /** The loopback when absent: nobody else can reach it. */
  readonly host?: string
  readonly maxBodyBytes?: number
}

/** A server that listens. */
export interface HttpServer extends AsyncDisposable {
  /** Where clients find it. */
  readonly url: string
  /** How many clients have a session. */
  readonly sessions: number
  /** Ends every session and stops listening. */
  close(): Promise<void>
}

/** Serves a session to each client that comes over HTTP, at `/mcp`. Rejects if the port cannot be had. */
export async function serveHttp(
  open: () => McpSession,
  { port, host = '127.0.0.1', token, maxBodyBytes = MAX_MESSAGE_BYTES, ...limits }: HttpOptions,
): Promise<HttpServer> {
  const sessions = new SessionTable({ maxSessions: 64, maxIdleMs: 30 * 60_000, ...limits })
  const entrance = new Entrance(sessions, new Admission({ token, host }), open, maxBodyBytes)
  const server = createServer((request, response) => entrance.enter(request, response))
  server.listen(port, host)
  await once(server, 'listening')
  const close = async () => {
    await sessions[Symbol.asyncDispose]()
    await closed(server)
  }
  return {
    url: urlOf(server),
    get sessions() {
      return sessions.size
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The way of each request: admission, the endpoint, its session. */
class Entrance {
  readonly #sessions: SessionTable
  readonly #admission: Admission
  readonly #open: () => McpSession
  readonly #maxBodyBytes: number

  constructor(sessions: SessionTable, admission: Admission, open: () => McpSession, maxBodyBytes: number) {
    this.#sessions = sessions
    this.#admission = admission
    this.#open = open
    this.#maxBodyBytes = maxBodyBytes
  }

  async enter(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const refusal =
        this.#admission.judge(request) ?? wrongPlace(request) ?? (await this.#route(request, response))
      if (refusal !== null) refuse(response, refusal)
    } catch {
      // A client that broke off in the middle, or a mistake of ours: either way nobody else must notice.
      if (!response.headersSent) refuse(response, { status: 400, message: 'the request could not be read' })
      else response.destroy()
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<Refusal | null> {
    const id = request.headers['mcp-session-id']
    if (id === undefined) return this.#begin(request, response)
    const session = typeof id === 'string' ? this.#sessions.get(id) : undefined
    if (session === undefined) {
      return { status: 404, message: 'there is no such session, or it has ended; start a new one' }
    }
    await session.handle(request, response)
    return null
  }

  async #begin(request: IncomingMessage, response: ServerResponse): Promise<Refusal | null> {
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
    const session = await HttpSession.begin(this.#open(), {
      maxBodyBytes: this.#maxBodyBytes,
      onOpen: (id, opened) => this.#sessions.add(id, opened),
    })
    await session.handle(request, response)
    // It was no introduction: the answer said so, and nobody will come back to this session.
    if (session.id === undefined) await session.close()
    return null
  }
}

function wrongPlace({ url = '/' }: IncomingMessage): Refusal | null {
  const path = url.split('?', 1)[0]
  return path === ENDPOINT
    ? null
    : { status: 404, message: `there is nothing here; the endpoint is ${ENDPOINT}` }
}

function urlOf(server: Server): string {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}${ENDPOINT}`
}

async function closed(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeAllConnections()
  await promise
}
