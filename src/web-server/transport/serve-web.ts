import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { OneTimeCodes } from './one-time-codes.ts'
import { type WebContentOptions, WebRouter } from './web-router.ts'

const LOOPBACK = '127.0.0.1'
const MAX_CONNECTIONS = 512
const BAD_REQUEST = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'
const LIMITS = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 2000,
  insecureHTTPParser: false,
  requireHostHeader: true,
} as const

export interface WebServerOptions extends WebContentOptions {
  /** Port; 0 for any free one. */
  readonly port: number
  readonly codes?: OneTimeCodes
}

/** A listening server. */
export interface WebServer extends AsyncDisposable {
  readonly port: number
  /** Address of the page, without a code. */
  readonly origin: string
  /** Number of pages that follow the events. */
  readonly streams: number
  /** Creates an address that opens one session. `path` is a path of the page with its query. */
  createLink(path?: string): string
  close(): Promise<void>
}

/** Formats host and port as browsers send them: the port 80 is left out. */
export function formatWebHost(port: number): string {
  return new URL(`http://${LOOPBACK}:${port}`).host
}

/** Serves the page and its API on the loopback. Rejects if the port is not available. */
export async function serveWeb(options: WebServerOptions): Promise<WebServer> {
  const codes = options.codes ?? new OneTimeCodes()
  const server = createServer(LIMITS)
  server.maxConnections = MAX_CONNECTIONS
  server.listen(options.port, LOOPBACK)
  await once(server, 'listening')
  const port = getPort(server)
  const host = formatWebHost(port)
  const router = new WebRouter(host, codes, options)
  const handle = (request: IncomingMessage, response: ServerResponse) => void router.handle(request, response)
  server.on('request', handle).on('checkContinue', handle).on('checkExpectation', handle)
  // Without these, Node would switch protocols, or leave the socket to nobody.
  server.on('upgrade', (_request, socket) => refuseSocket(socket))
  server.on('connect', (_request, socket) => refuseSocket(socket))
  server.on('clientError', (error, socket) => {
    // A browser connects ahead, and may send its first request just now. It sends it again if the connection ends, but
    // takes an answer to nothing for the page.
    if ('code' in error && error.code === 'ERR_HTTP_REQUEST_TIMEOUT') socket.destroy()
    else refuseSocket(socket)
  })
  const origin = `http://${host}`
  const close = async () => {
    router.close()
    await closeServer(server)
  }
  return {
    port,
    origin,
    get streams() {
      return router.streams
    },
    createLink: (path = '/') => `${origin}${path}#${codes.create()}`,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Ends a connection that does not speak our protocol. */
function refuseSocket(socket: Duplex): void {
  // Nobody else listens to it any more: an error would end the program.
  socket.on('error', () => {})
  // A second answer after one that is on its way could be taken for the one to the next request.
  const isAnswered = 'bytesWritten' in socket && socket.bytesWritten !== 0
  if (socket.writable) socket.end(isAnswered ? '' : BAD_REQUEST, () => socket.destroy())
  else socket.destroy()
}

function getPort(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}

async function closeServer(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeAllConnections()
  await promise
}
