import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import type { WebMethodName, WebMethods } from '../../src/web-api/index.ts'
import { webMethods } from '../../src/web-api/index.ts'

/** Sends bytes as they are, and returns everything that comes back until the connection closes. */
export async function sendRaw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  const parts: Buffer[] = []
  socket.on('data', (part) => parts.push(part))
  socket.write(text)
  if (!socket.closed) await once(socket, 'close')
  return Buffer.concat(parts).toString()
}

/** Opens a connection, and sends bytes. */
export async function openRaw(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

/** The page, without a browser: it trades its code for a token and calls methods. */
export class WebClient {
  readonly origin: string
  readonly token: string

  private constructor(origin: string, token: string) {
    this.origin = origin
    this.token = token
  }

  static async open(link: string): Promise<WebClient> {
    const { origin, hash } = new URL(link)
    const response = await fetch(`${origin}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code: hash.slice(1) }),
    })
    if (!response.ok) throw new Error(`no session: ${response.status} ${await response.text()}`)
    const { token } = (await response.json()) as { token: string }
    return new WebClient(origin, token)
  }

  async call<Name extends WebMethodName>(
    name: Name,
    params: WebMethods[Name]['params'],
  ): Promise<WebMethods[Name]['result']> {
    const response = await this.request(name, params)
    const body = (await response.json()) as { error?: { code: string; message: string } }
    if (!response.ok) throw Object.assign(new Error(body.error?.message), { code: body.error?.code })
    return body as WebMethods[Name]['result']
  }

  request(name: WebMethodName, params: object): Promise<Response> {
    const authorization = `Bearer ${this.token}`
    if (webMethods[name] === 'GET') {
      const query = new URLSearchParams(
        Object.fromEntries(Object.entries(params).map(([key, value]) => [key, String(value)])),
      )
      return fetch(`${this.origin}/api/${name}?${query}`, { headers: { authorization } })
    }
    return fetch(`${this.origin}/api/${name}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(params),
    })
  }
}

/** Follows the event stream from a position on, and yields its blocks that have one. It ends with the test. */
export async function followBlocks(client: WebClient, after?: string): Promise<AsyncGenerator<string>> {
  const query = after === undefined ? '' : `?after=${after}`
  const response = await fetch(`${client.origin}/api/events${query}`, {
    headers: { authorization: `Bearer ${client.token}` },
  })
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  onTestFinished(() => reader?.cancel())
  const read = async function* () {
    let text = ''
    for (;;) {
      const part = await reader?.read()
      if (part === undefined || part.done) return
      text += part.value
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      yield* blocks.filter((block) => block.startsWith('id: '))
    }
  }
  return read()
}
