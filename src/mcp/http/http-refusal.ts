import type { ServerResponse } from 'node:http'

/** A request that is not served: its status, and words for whoever reads the answer. */
export interface HttpRefusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 503
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Codes of the protocol's own range, the same for every refusal: the status says which one it is. */
const SERVER_ERROR = -32000

/** Answers as the protocol's errors look, so that a client shows the message. */
export function sendRefusal(response: ServerResponse, { status, message, headers = {} }: HttpRefusal): void {
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code: SERVER_ERROR, message }, id: null })
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}
