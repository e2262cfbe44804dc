import { type Agent, type IncomingMessage, type ServerResponse, request as sendRequest } from 'node:http'
import type { Duplex } from 'node:stream'
import { formatTarget, type NetworkTarget, parseTarget } from '../host-name.ts'
import type { ValueMask } from '../inject/value-mask.ts'
import { formatHostHeader, hasAgreeingHost, type MessageHeader, selectEndHeaders } from './message-headers.ts'
import { ServerReads } from './server-reads.ts'
import { UpstreamError } from './upstream-agent.ts'

const HTTP_PORT = 80
/** A request to a proxy names its target in full. */
const ABSOLUTE_FORM = /^http:\/\/([^/?#]+)(.*)$/i

/** A request to send on. */
export interface ForwardedRequest {
  readonly target: NetworkTarget
  readonly path: string
  /** All headers of the request to the server. */
  readonly headers: readonly MessageHeader[]
  /** Opens or finds the connection. */
  readonly agent: Agent
  /** Masks what the server sends back; nothing when absent. */
  readonly mask?: ValueMask
  /** Connects the two sides once the server has agreed to another protocol. Without it, that is an error. */
  readonly onUpgrade?: (answer: IncomingMessage, server: Duplex, head: Buffer) => void
}

/** A request that is answered with an error. */
export interface InvalidRequest {
  readonly refusal: string
}

/** Serves one request for a plain HTTP address. Each request of a connection gets a decision of its own. */
export function forwardRequest(request: IncomingMessage, response: ServerResponse, agent: Agent): void {
  answerRequest(request, response, parseRequest(request, agent))
}

/** Sends a request on, or refuses it. Never throws. */
export function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  parsed: ForwardedRequest | InvalidRequest,
): void {
  try {
    if ('refusal' in parsed) refuse(response, 400, parsed.refusal)
    else sendUpstream(request, response, parsed)
  } catch {
    // Node refuses to send a message that it has parsed.
    refuse(response, 400, 'the request is not valid')
  }
}

function parseRequest(request: IncomingMessage, agent: Agent): ForwardedRequest | InvalidRequest {
  const [, authority = '', rest = ''] = ABSOLUTE_FORM.exec(request.url ?? '') ?? []
  if (authority === '') return { refusal: 'this is a proxy; send it the whole address: http://host/path' }
  const target = parseTarget(authority, HTTP_PORT)
  if (target === undefined) return { refusal: 'the address has no valid host; leave out user names' }
  if (!hasAgreeingHost(request, target, HTTP_PORT))
    return { refusal: 'the Host header names another host than the address' }
  const path = rest.startsWith('/') ? rest : `/${rest}`
  return { target, path, headers: createHeaders(request, target, HTTP_PORT), agent }
}

/** Returns the headers of a request as the server gets them. */
export function createHeaders(
  request: IncomingMessage,
  target: NetworkTarget,
  defaultPort: number,
): MessageHeader[] {
  const isChunked = request.headers['transfer-encoding'] !== undefined
  return [
    ['host', formatHostHeader(target, defaultPort)],
    ...selectEndHeaders(request).filter(([name]) => name !== 'host'),
    ...(isChunked ? [['transfer-encoding', 'chunked'] satisfies MessageHeader] : []),
  ]
}

/** Sends a request anew, rather than its bytes: the server reads the message that was judged, and nothing after it. */
function sendUpstream(
  request: IncomingMessage,
  response: ServerResponse,
  { target, path, headers, agent, mask, onUpgrade }: ForwardedRequest,
): void {
  const upstream = sendRequest({
    host: target.host,
    port: target.port,
    method: request.method ?? 'GET',
    path,
    headers: headers.flat(),
    setHost: false,
    agent,
  })
  upstream.once('response', (answer) => {
    try {
      response.writeHead(
        answer.statusCode ?? 0,
        answer.statusMessage,
        selectAnswerHeaders(answer, mask).flat(),
      )
    } catch {
      return fail()
    }
    answer.once('error', fail)
    if (mask !== undefined) answer.pipe(mask.createStream()).pipe(response)
    else if (!ServerReads.passBody(request.method, answer, response)) answer.pipe(response)
  })
  if (onUpgrade !== undefined) upstream.once('upgrade', onUpgrade)
  upstream.once('error', fail)
  upstream.once('close', () => response.headersSent || fail())
  response.once('close', () => upstream.destroy())
  request.pipe(upstream)

  function fail(error?: Error): void {
    if (response.headersSent) response.destroy()
    else if (error instanceof UpstreamError) refuseProblem(response, error)
    // The server closed a connection that was open for a while, as it may. Clients send such a request again.
    else if (upstream.reusedSocket) request.socket.destroy()
    else refuse(response, 502, `${formatTarget(target)} gave no valid answer`)
  }
}

/** Returns the headers to answer with. With a mask, they are masked and lack the length, which it changes. */
function selectAnswerHeaders(answer: IncomingMessage, mask: ValueMask | undefined): MessageHeader[] {
  const headers = selectEndHeaders(answer)
  if (mask === undefined) return headers
  const masked = headers.map(([name, value]): MessageHeader => [name, mask.maskText(value)])
  return masked.filter(([name]) => name !== 'content-length')
}

function refuseProblem(response: ServerResponse, { problem: { decision, message } }: UpstreamError): void {
  refuse(response, decision === 'refused' ? 403 : 502, message)
}

/** Answers a request that goes nowhere, and closes: the rest of the request is not read. */
function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.destroyed || response.headersSent) return
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' })
  response.end(`coppice: ${message}\n`)
}
