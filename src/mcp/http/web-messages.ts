import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/**
 * Converts a request of Node's HTTP server to a web request, whose body is read on demand.
 *
 * @param signal cancels the work for it.
 */
export function toWebRequest(request: IncomingMessage, signal?: AbortSignal): Request {
  const { method = 'GET', url = '/', headers } = request
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(new URL(url, `http://${headers.host ?? 'localhost'}`), {
    method,
    headers: toWebHeaders(request),
    ...(signal !== undefined && { signal }),
    ...(hasBody && { body: Readable.toWeb(request), duplex: 'half' as const }),
  })
}

/** Sends a web response; resolves once its body is sent. Rejects if the client disconnects, and cancels the body. */
export async function sendWebResponse(target: ServerResponse, response: Response): Promise<void> {
  target.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body === null) {
    target.end()
    return
  }
  // The first event of a stream may come much later.
  target.flushHeaders()
  await pipeline(Readable.fromWeb(response.body), target)
}

function toWebHeaders({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    for (const value of values) headers.append(name, value)
  }
  return headers
}
