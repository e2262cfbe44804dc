import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'

/** Handles a POST request: its path and its parsed body. */
export type PostHandler = (path: string, body: unknown, response: ServerResponse) => Promise<void>

/** An HTTP server on loopback, on a free port. Other requests than POST get an empty object. */
export class LoopbackServer implements AsyncDisposable {
  readonly url: string
  /** Failures of the handler; a story must leave none. */
  readonly problems: unknown[]
  readonly #server: Server

  private constructor(server: Server, problems: unknown[]) {
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('the server has no port')
    this.url = `http://127.0.0.1:${address.port}`
    this.problems = problems
    this.#server = server
  }

  static async start(handle: PostHandler): Promise<LoopbackServer> {
    const problems: unknown[] = []
    const server = createServer((request, response) => {
      handleRequest(request, response, handle).catch((error: unknown) => {
        problems.push(error)
        if (response.headersSent) response.destroy()
        else sendJson(response, 400, { error: { message: String(error) } })
      })
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return new LoopbackServer(server, problems)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  handle: PostHandler,
): Promise<void> {
  if (request.method !== 'POST') return sendJson(response, 200, {})
  await handle(request.url ?? '/', JSON.parse(await text(request)), response)
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Writes server-sent events whose data repeats the name of the event, as both APIs do. */
export class EventStream {
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response.writeHead(200, { 'content-type': 'text/event-stream' })
  }

  send(type: string, data: object): void {
    this.#response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
  }

  end(): void {
    this.#response.end()
  }
}

/** Resolves when the client has closed the connection. */
export async function waitForClose(response: ServerResponse): Promise<void> {
  if (!response.closed) await once(response, 'close')
}
