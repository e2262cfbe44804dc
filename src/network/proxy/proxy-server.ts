import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { ListenOptions, Socket, Server as SocketServer } from 'node:net'
import { createServer as createSocketServer } from 'node:net'
import type { Duplex } from 'node:stream'
import { ConnectionLog, type NetworkUse } from '../connection-log.ts'
import { formatTarget, type NetworkTarget, parseTarget } from '../host-name.ts'
import type { HostRule } from '../host-rule.ts'
import { NetworkAccess } from '../network-access.ts'
import type { ResolveAddresses } from '../resolve-host.ts'
import { forwardRequest } from './forward-request.ts'
import { HeaderInjector, type Injection } from './header-injector.ts'
import type { Relay } from './relay.ts'
import { ServerReads } from './server-reads.ts'
import { SOCKS_VERSION, serveSocks } from './socks.ts'
import { Tunnel } from './tunnel.ts'
import {
  type ConnectionProblem,
  openUpstream,
  type UpstreamContext,
  type UpstreamResult,
} from './upstream.ts'
import { UpstreamAgent } from './upstream-agent.ts'

const MAX_HEADER_BYTES = 64 * 1024
const HEADERS_TIMEOUT_MS = 30_000
const IDLE_TIMEOUT_MS = 60_000
/** Limit of open connections; each takes two descriptors of this process. */
const MAX_CONNECTIONS = 4096

export interface ProxyOptions {
  readonly rules: readonly HostRule[]
  /** Resolves names; the resolver of this machine when absent. */
  readonly resolve?: ResolveAddresses | undefined
  /** Receives one line for each host and port that is refused or cannot be reached. */
  readonly onProblem?: ((line: string) => void) | undefined
  /** Secrets to put into requests; none when absent. */
  readonly injection?: Injection | undefined
}

/**
 * A proxy for one command: HTTP, HTTPS by CONNECT, and SOCKS 5 on the same port. It reaches what its rules name, and
 * counts the connections.
 */
export class ProxyServer implements AsyncDisposable {
  readonly #http: Server
  readonly #sockets = new Set<Duplex>()
  readonly #servers: SocketServer[] = []
  readonly #context: UpstreamContext
  readonly #injector: HeaderInjector | undefined
  readonly #agents = new WeakMap<Duplex, UpstreamAgent>()

  constructor({ rules, resolve, onProblem, injection }: ProxyOptions) {
    this.#context = {
      access: new NetworkAccess(rules, resolve),
      log: new ConnectionLog(),
      track: (socket) => this.#track(socket),
      onProblem: reportOnce(onProblem),
    }
    this.#injector = injection && new HeaderInjector(injection, this.#context, MAX_HEADER_BYTES)
    this.#http = createServer(
      {
        maxHeaderSize: MAX_HEADER_BYTES,
        headersTimeout: HEADERS_TIMEOUT_MS,
        // An upload takes the time it takes.
        requestTimeout: 0,
        keepAliveTimeout: IDLE_TIMEOUT_MS,
        insecureHTTPParser: false,
      },
      (request, response) => forwardRequest(request, response, this.#getOrCreateAgent(request.socket)),
    )
    this.#http.maxConnections = MAX_CONNECTIONS
    this.#http.on('connect', (request, _stream, head) => void this.#serveConnect(request, head))
    this.#http.on('clientError', (_error, socket) => socket.destroy())
    this.#splitProtocols()
  }

  /** Accepts connections at an address, or those of a server that listens already. */
  listen(endpoint: ListenOptions | SocketServer): Promise<void> {
    return this.#start(this.#http, endpoint)
  }

  /** Connects everything that arrives at a server to the first target that answers, without a protocol. */
  forward(endpoint: SocketServer, targets: readonly NetworkTarget[]): Promise<void> {
    const server = createSocketServer({ allowHalfOpen: true, noDelay: true }, async (socket) => {
      this.#track(socket)
      for (const target of targets) {
        const tunnel = new Tunnel()
        const result = await openUpstream(target, this.#context, tunnel)
        if ('problem' in result) continue
        return socket.destroyed ? result.socket.destroy() : tunnel.open(socket, result.socket)
      }
      socket.destroy()
    })
    server.maxConnections = MAX_CONNECTIONS
    return this.#start(server, endpoint)
  }

  /** Lists the connections so far. */
  listConnections(): NetworkUse[] {
    return this.#context.log.list()
  }

  /** Closes every connection. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.#servers.map((server) => once(server, 'close'))
    for (const server of this.#servers) server.close()
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all(closed)
  }

  async #start(server: SocketServer, endpoint: ListenOptions | SocketServer): Promise<void> {
    server.listen(endpoint)
    await once(server, 'listening')
    this.#servers.push(server)
  }

  /** Hands each connection to its protocol, by the first byte. */
  #splitProtocols(): void {
    const [serveHttp] = this.#http.listeners('connection')
    this.#http.removeAllListeners('connection')
    this.#http.on('connection', (socket: Socket) => {
      this.#track(socket)
      socket.setTimeout(IDLE_TIMEOUT_MS, () => socket.destroy())
      socket.once('readable', () => {
        const first: unknown = socket.read(1)
        if (!(first instanceof Buffer)) return socket.destroy()
        socket.setTimeout(0)
        socket.unshift(first)
        if (first[0] === SOCKS_VERSION)
          void serveSocks(socket, { ...this.#context, createRelay: (target) => this.#createRelay(target) })
        else serveHttp?.call(this.#http, socket)
      })
    })
  }

  /** Keeps a socket until it closes. Its errors close it, and nothing else. */
  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    socket.on('error', () => socket.destroy())
  }

  async #serveConnect({ url = '', socket }: IncomingMessage, head: Buffer): Promise<void> {
    // At once: the client may end its side before the server is reached.
    if (head.length > 0) socket.unshift(head)
    const target = parseTarget(url)
    if (target === undefined) return refuseConnect(socket, '400 Bad Request', 'CONNECT takes host:port')
    const relay = this.#createRelay(target)
    const result = await openUpstream(target, this.#context, relay)
    if ('problem' in result) {
      const { decision, message } = result.problem
      return refuseConnect(socket, decision === 'refused' ? '403 Forbidden' : '502 Bad Gateway', message)
    }
    if (socket.destroyed) return void result.socket.destroy()
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    relay.open(socket, result.socket)
  }

  /** Creates the relay to a target: the injector if a secret is bound to it, else a tunnel that reads nothing. */
  #createRelay(target: NetworkTarget): Relay {
    const injector = this.#injector
    if (injector?.hasTarget(target) !== true) return new Tunnel()
    return {
      open: (client, server, early) => {
        if (early !== undefined && early.length > 0) client.unshift(early)
        injector.open(client, server, target)
      },
    }
  }

  /** Returns the agent with the upstream connections of a client, which end with its own. */
  #getOrCreateAgent(client: Socket): UpstreamAgent {
    const existing = this.#agents.get(client)
    if (existing !== undefined) return existing
    const agent = new UpstreamAgent((target) => openForParser(target, this.#context))
    this.#agents.set(client, agent)
    client.once('close', () => agent.destroy())
    return agent
  }
}

/** Opens a connection for Node's parser of HTTP. */
async function openForParser(target: NetworkTarget, context: UpstreamContext): Promise<UpstreamResult> {
  const reads = new ServerReads()
  const result = await openUpstream(target, context, reads)
  if ('socket' in result) reads.attach(result.socket)
  return result
}

/** Answers a CONNECT that goes nowhere. */
function refuseConnect(socket: Duplex, status: string, message: string): void {
  const body = `coppice: ${message}\n`
  const head = ['content-type: text/plain', `content-length: ${Buffer.byteLength(body)}`, 'connection: close']
  socket.end(`HTTP/1.1 ${status}\r\n${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Returns a listener that reports the first problem of each target, up to a limit. */
function reportOnce(onProblem: ProxyOptions['onProblem']): UpstreamContext['onProblem'] {
  const reported = new Set<string>()
  return (target: NetworkTarget, problem: ConnectionProblem) => {
    const key = formatTarget(target)
    if (reported.has(key) || reported.size >= MAX_REPORTED) return
    reported.add(key)
    onProblem?.(formatProblem(problem))
  }
}

function formatProblem({ message, remedy }: ConnectionProblem): string {
  if (remedy === undefined) return `no connection: ${message}`
  return `refused: ${message}; allow it with: coppice exec --allow-host ${remedy} …`
}

/** Limit of lines about problems. The result lists more. */
const MAX_REPORTED = 20
