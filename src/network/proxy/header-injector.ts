import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectTls, TLSSocket } from 'node:tls'
import { formatTarget, type NetworkTarget, normalizeHost } from '../host-name.ts'
import { type BoundSecret, BoundSecrets } from '../inject/bound-secrets.ts'
import type { ValueMask } from '../inject/value-mask.ts'
import type { CertificateAuthority } from '../tls/certificate-authority.ts'
import {
  answerRequest,
  createHeaders,
  type ForwardedRequest,
  type InvalidRequest,
} from './forward-request.ts'
import { hasAgreeingHost } from './message-headers.ts'
import { openUpstream, type UpstreamContext, type UpstreamResult } from './upstream.ts'
import { UpstreamAgent } from './upstream-agent.ts'

const HTTPS_PORT = 443
const HANDSHAKE_TIMEOUT_MS = 30_000
const PROTOCOLS = ['http/1.1']

/** Secrets of a command, and what is needed to put them into its requests. */
export interface Injection {
  readonly secrets: readonly BoundSecret[]
  readonly authority: CertificateAuthority
  /** Certificates that servers are verified with, as PEM. */
  readonly roots: string
}

interface ClientConnection {
  readonly target: NetworkTarget
  readonly agent: UpstreamAgent
}

/**
 * Puts the values of secrets into the headers of requests to the hosts that they are bound to. It ends the TLS of the
 * client with a certificate of its own, and begins another one with the server.
 */
export class HeaderInjector {
  readonly #secrets: BoundSecrets
  readonly #authority: CertificateAuthority
  readonly #roots: string
  readonly #context: UpstreamContext
  readonly #http: Server
  readonly #connections = new WeakMap<Duplex, ClientConnection>()

  constructor({ secrets, authority, roots }: Injection, context: UpstreamContext, maxHeaderSize: number) {
    this.#secrets = new BoundSecrets(secrets)
    this.#authority = authority
    this.#roots = roots
    this.#context = context
    this.#http = createServer({ maxHeaderSize, insecureHTTPParser: false }, (request, response) =>
      answerRequest(request, response, this.#parseRequest(request)),
    )
    this.#http.on('upgrade', (request, client, head) => {
      if (client instanceof TLSSocket) this.#serveUpgrade(request, client, head)
    })
    this.#http.on('clientError', (_error, socket) => socket.destroy())
  }

  /** Reports whether a secret is bound to a target, so that its connections have to be opened here. */
  hasTarget(target: NetworkTarget): boolean {
    return this.#secrets.hasTarget(target)
  }

  /** Serves the requests of a client to a target. The first request takes `server`, which is connected to the target. */
  open(client: Socket, server: Socket, target: NetworkTarget): void {
    let first: Socket | undefined = server
    const agent = new UpstreamAgent(async () => {
      const socket = first
      first = undefined
      return this.#startTls(
        target,
        socket === undefined || socket.destroyed ? await this.#connect(target) : { socket },
      )
    })
    const secure = new TLSSocket(client, {
      isServer: true,
      secureContext: this.#authority.getServerContext(target.host),
      ALPNProtocols: PROTOCOLS,
      // A client that asks for another host than the one that was judged gets nothing.
      SNICallback: (name, done) =>
        normalizeHost(name) === target.host ? done(null) : done(new Error(`not ${target.host}`)),
    })
    const timer = setTimeout(() => client.destroy(), HANDSHAKE_TIMEOUT_MS)
    secure.once('secure', () => clearTimeout(timer))
    secure.on('error', () => client.destroy())
    client.once('close', () => {
      clearTimeout(timer)
      agent.destroy()
      first?.destroy()
      secure.destroy()
    })
    this.#connections.set(secure, { target, agent })
    this.#http.emit('connection', secure)
  }

  #connect(target: NetworkTarget): Promise<UpstreamResult> {
    return openUpstream(target, this.#context)
  }

  /** Begins TLS with a server, and verifies that it is the one. */
  #startTls(target: NetworkTarget, result: UpstreamResult): Promise<UpstreamResult> | UpstreamResult {
    if ('problem' in result) return result
    return new Promise((resolve) => {
      const socket = connectTls({
        socket: result.socket,
        host: target.host,
        ...(isIP(target.host) === 0 && { servername: target.host }),
        ca: this.#roots,
        ALPNProtocols: PROTOCOLS,
      })
      socket.once('secureConnect', () => resolve({ socket }))
      socket.on('error', ({ message }) => {
        result.socket.destroy()
        const problem = `${formatTarget(target)} cannot be trusted or reached (${message})`
        resolve({ problem: { decision: 'failed', message: problem } })
      })
    })
  }

  /** Serves a request that asks for another protocol, such as WebSocket. */
  #serveUpgrade(request: IncomingMessage, client: TLSSocket, early: Buffer): void {
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(client)
    response.once('finish', () => client.end())
    const forwarded = this.#parseRequest(request)
    if ('refusal' in forwarded) return void answerRequest(request, response, forwarded)
    answerRequest(request, response, {
      ...forwarded,
      headers: [...forwarded.headers, ['connection', 'Upgrade'], ['upgrade', request.headers.upgrade ?? '']],
      onUpgrade: (answer, server, head) => {
        response.detachSocket(client)
        client.write(formatUpgrade(answer, forwarded.mask), 'latin1')
        client.write(head)
        server.write(early)
        joinStreams(client, server)
      },
    })
  }

  #parseRequest(request: IncomingMessage): ForwardedRequest | InvalidRequest {
    const connection = this.#connections.get(request.socket)
    if (connection === undefined) return { refusal: 'the connection is closed' }
    const { target, agent } = connection
    const path = request.url ?? ''
    if (!path.startsWith('/') && path !== '*') return { refusal: 'the request must have a path alone' }
    if (!hasAgreeingHost(request, target, HTTPS_PORT))
      return { refusal: `the Host header names another host than ${formatTarget(target)}` }
    const headers = createHeaders(request, target, HTTPS_PORT).filter(([name]) => name !== 'accept-encoding')
    return {
      target,
      path,
      // What is compressed cannot be masked.
      headers: [...this.#secrets.inject(target, headers), ['accept-encoding', 'identity']],
      agent,
      mask: this.#secrets.createMask(target),
    }
  }
}

function formatUpgrade({ rawHeaders }: IncomingMessage, mask: ValueMask | undefined): string {
  const lines = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : [],
  )
  const text = lines.join('\r\n')
  return `HTTP/1.1 101 Switching Protocols\r\n${mask?.maskText(text) ?? text}\r\n\r\n`
}

/** Passes on what either side sends, until one closes. */
function joinStreams(client: Duplex, server: Duplex): void {
  client.pipe(server).pipe(client)
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on('error', () => other.destroy())
    one.once('close', () => other.destroy())
  }
}
