import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A proxy between a browser and a server, whose connections a test can cut. */
export interface CutProxy {
  /** Address of the page by way of the proxy. */
  readonly origin: string
  /** Ends all connections. New ones are refused until `restore`. */
  cut(): void
  restore(): void
}

/** Starts a proxy for a server of this machine, which sees its own name in each request. Ends with the test. */
export async function openCutProxy(target: string): Promise<CutProxy> {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((incoming, outgoing) => {
    const { host: _host, origin, ...headers } = incoming.headers
    const passed = request(`${target}${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers: { ...headers, ...(origin !== undefined && { origin: target }) },
    })
    passed.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers)
      response.pipe(outgoing)
      response.on('error', () => outgoing.destroy())
    })
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  server.on('connection', (socket) => {
    if (isCut) return socket.destroy()
    sockets.add(socket)
    return socket.on('close', () => sockets.delete(socket)).on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return {
    origin: `http://127.0.0.1:${address.port}`,
    cut: () => {
      isCut = true
      for (const socket of sockets) socket.destroy()
    },
    restore: () => {
      isCut = false
    },
  }
}
