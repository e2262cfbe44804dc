import type { ServerResponse } from 'node:http'
import type { HttpRefusal } from '../../http/index.ts'

/** Protocol code of every refusal; the status distinguishes them. */
const SERVER_ERROR = -32000

/** Responds with a protocol error, so that a client shows the message. */
export function sendRefusal(response: ServerResponse, { status, message, headers = {} }: HttpRefusal): void {
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code: SERVER_ERROR, message }, id: null })
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}
