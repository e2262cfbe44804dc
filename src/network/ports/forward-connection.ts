import type { Socket } from 'node:net'
import { closeTogether } from '../close-together.ts'
import { type ConnectionStart, readConnectionStart } from './connection-start.ts'

/** Time in milliseconds for the head of a request. */
const HEAD_TIMEOUT_MS = 30_000
const REASONS = { 400: 'Bad Request', 403: 'Forbidden', 404: 'Not Found', 502: 'Bad Gateway' } as const

/** An answer to a request that is not forwarded. */
export interface Refusal {
  readonly status: keyof typeof REASONS
  readonly text: string
}

/** Connects a client to the server that its first request names. */
export async function forwardByHost(
  client: Socket,
  choose: (host: string) => Promise<Socket | Refusal>,
): Promise<void> {
  client.setTimeout(HEAD_TIMEOUT_MS, () => client.destroy())
  const { start, bytes } = await readStart(client)
  client.setTimeout(0)
  if (start.kind !== 'request' || start.host === undefined) {
    refuse(client, { status: 400, text: 'this address is for HTTP requests with one Host header' })
    return
  }
  const server = await choose(start.host)
  if ('status' in server) {
    refuse(client, server)
    return
  }
  server.pipe(client)
  sendAll(client, server, bytes)
}

/**
 * Connects a client to a server, which may speak first. A request by HTTP has to name an allowed host: otherwise a web
 * page could reach the server by a name that it lets point to this machine.
 *
 * @param server undefined if nothing listens; a request is answered then.
 */
export async function forwardPlain(
  client: Socket,
  server: Socket | undefined,
  isAllowed: (host: string) => boolean,
): Promise<void> {
  server?.pipe(client)
  const { start, bytes } = await readStart(client)
  if (start.kind === 'request' && (start.host === undefined || !isAllowed(start.host))) {
    server?.destroy()
    refuse(client, { status: 403, text: 'the Host header does not name this fork' })
  } else if (server !== undefined) sendAll(client, server, bytes)
  else if (start.kind === 'request') refuse(client, { status: 502, text: 'nothing listens on this port' })
  else client.destroy()
}

/** Sends what was read of a client, and all that follows, to its server. Either one that is closed closes both. */
function sendAll(client: Socket, server: Socket, bytes: Buffer): void {
  closeTogether(client, server)
  server.write(bytes)
  client.pipe(server)
}

/** Reads a client until its protocol, and the host of a request, are known. It is paused afterwards. */
function readStart(client: Socket): Promise<{ readonly start: ConnectionStart; readonly bytes: Buffer }> {
  const { promise, resolve } = Promise.withResolvers<{ start: ConnectionStart; bytes: Buffer }>()
  let bytes: Buffer = Buffer.alloc(0)
  const finish = (start: ConnectionStart) => {
    client.off('data', take).off('end', end).off('close', end)
    client.pause()
    resolve({ start, bytes })
  }
  const take = (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    const start = readConnectionStart(bytes)
    if (start.kind !== 'unfinished') finish(start)
  }
  const end = () => finish({ kind: 'other' })
  client.on('data', take).once('end', end).once('close', end)
  client.resume()
  return promise
}

function refuse(client: Socket, { status, text }: Refusal): void {
  const body = `coppice: ${text}\n`
  client.end(
    [
      `HTTP/1.1 ${status} ${REASONS[status]}`,
      'Content-Type: text/plain; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  // Bytes that nobody reads would keep the connection open.
  client.resume()
}
