import { createServer, type Server, type Socket } from 'node:net'
import { isErrno } from '../../machine/index.ts'
import { isOwnProgram } from './is-own-program.ts'

/** Accepts connections from programs of this user on the loopback of this machine. */
export class LoopbackServer implements AsyncDisposable {
  readonly port: number
  readonly #servers: readonly Server[]
  readonly #connections: ReadonlySet<Socket>

  private constructor(port: number, servers: readonly Server[], connections: ReadonlySet<Socket>) {
    this.port = port
    this.#servers = servers
    this.#connections = connections
  }

  /**
   * Listens on a port, or on a free one for 0. Undefined if another program has the port, for IPv4 or IPv6: a name such
   * as `fork.localhost` stands for both.
   */
  static async listen(
    port: number,
    onConnection: (client: Socket) => unknown,
  ): Promise<LoopbackServer | undefined> {
    const connections = new Set<Socket>()
    const accept = (client: Socket) => {
      client.on('error', () => client.destroy())
      if (!isOwnProgram(client)) {
        client.destroy()
        return
      }
      connections.add(client)
      client.once('close', () => connections.delete(client))
      onConnection(client)
    }
    const first = await listen(accept, port, '127.0.0.1')
    if (first === undefined || first === 'no address') return undefined
    const address = first.address()
    const actualPort = typeof address === 'object' && address !== null ? address.port : port
    const second = await listen(accept, actualPort, '::1')
    if (second === undefined && port !== 0) {
      first.close()
      return undefined
    }
    const servers = second === undefined || second === 'no address' ? [first] : [first, second]
    return new LoopbackServer(actualPort, servers, connections)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)))
    for (const connection of this.#connections) connection.destroy()
    await Promise.all(closed)
  }
}

/** Listens on an address; undefined if the port is taken or reserved for root, `no address` if there is no such one. */
function listen(
  accept: (client: Socket) => void,
  port: number,
  host: string,
): Promise<Server | 'no address' | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<Server | 'no address' | undefined>()
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, accept)
  server.once('error', (error) => {
    if (isErrno(error, 'EADDRINUSE', 'EACCES')) resolve(undefined)
    else if (isErrno(error, 'EADDRNOTAVAIL', 'EAFNOSUPPORT')) resolve('no address')
    else reject(error)
  })
  server.listen({ port, host, ipv6Only: true }, () => resolve(server))
  return promise
}
