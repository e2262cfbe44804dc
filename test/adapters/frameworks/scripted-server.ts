import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A response of the server: JSON, or server-sent events with optional names. */
export type Reply = { readonly json: unknown } | { readonly events: readonly ServerEvent[] }

interface ServerEvent {
  readonly event?: string
  readonly data: unknown
}

/** A local model server that plays a script and records its requests. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string
  /** Bodies of all requests. */
  readonly requests: readonly unknown[]
}

export async function scriptedServer(replies: readonly Reply[]): Promise<ScriptedServer> {
  const rest = [...replies]
  const requests: unknown[] = []
  const server = createServer(async (request, response) => {
    const body = (await Array.fromAsync(request)).join('')
    requests.push(JSON.parse(body))
    const reply = rest.shift()
    if (reply === undefined) response.writeHead(500).end()
    else if ('json' in reply) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply.json))
    } else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(eventText(reply.events))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const end = async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
  }
  return { url: `http://127.0.0.1:${portOf(server.address())}`, requests, [Symbol.asyncDispose]: end }
}

function eventText(events: readonly ServerEvent[]): string {
  return events
    .map(({ event, data }) => {
      const name = event === undefined ? '' : `event: ${event}\n`
      return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
    })
    .join('')
}

function portOf(address: string | AddressInfo | null): number {
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}
