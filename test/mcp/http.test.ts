import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  createToolsFeature,
  type HttpOptions,
  type HttpServer,
  McpSession,
  serveHttp,
} from '../../src/mcp/index.ts'

const TOKEN = 'a-token-of-this-test'

/** A server with a tool that answers what it was given, and one that says it was called and never answers. */
async function echoServer(
  options: Partial<HttpOptions> = {},
  onHold = () => {},
  opened: McpSession[] = [],
): Promise<HttpServer> {
  const echo = createToolsFeature(() => ({
    list: () => ['echo', 'hold'].map((name) => ({ name, inputSchema: { type: 'object' } })),
    async call(name, args, { signal }) {
      if (name === 'hold') onHold()
      if (name === 'hold') await once(signal, 'abort')
      return { content: [{ type: 'text', text: JSON.stringify(args) }] }
    },
  }))
  const open = () => {
    const session = new McpSession({ info: { name: 'echo', version: '1' }, parts: [echo] })
    opened.push(session)
    return session
  }
  const server = await serveHttp(open, { port: 0, token: TOKEN, ...options })
  onTestFinished(() => server.close())
  return server
}

async function connected({ url }: HttpServer): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const headers = { authorization: `Bearer ${TOKEN}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  return client
}

interface Answer {
  readonly status: number | undefined
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: string
}

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
})

/** One request as it is, headers included; the answer's body as far as it comes in one piece. */
function ask(
  url: string,
  {
    method = 'POST',
    headers = {},
    body = INITIALIZE,
  }: { method?: string; headers?: object; body?: string } = {},
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const usual = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${TOKEN}`,
  }
  const sent = request(url, { method, headers: { ...usual, ...headers } }, (response) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk))
    response.on('error', reject)
    response.on('end', () =>
      resolve({
        status: response.statusCode,
        headers: response.headers,
        body: Buffer.concat(chunks).toString(),
      }),
    )
  })
  sent.on('error', reject)
  sent.end(method === 'POST' ? body : undefined)
  return promise
}

describe('authorization', () => {
  it('accepts the token', async () => {
    const { url } = await echoServer()
    expect(await ask(url)).toMatchObject({ status: 200 })
  })

  it.each([
    ['no token', { authorization: '' }],
    ['a wrong token', { authorization: 'Bearer something-else' }],
    ['a token that only begins like it', { authorization: `Bearer ${TOKEN}x` }],
    ['another kind of authorization', { authorization: `Basic ${TOKEN}` }],
  ])('refuses %s with 401, and explains the header', async (_what, headers) => {
    const server = await echoServer()
    const answer = await ask(server.url, { headers })
    expect(answer).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer realm="coppice"' } })
    expect(JSON.parse(answer.body)).toMatchObject({
      error: { message: expect.stringContaining('Bearer <token>') },
    })
    expect(server.sessions).toBe(0)
  })

  it.each([
    ['a name that leads here', { host: 'evil.example.com' }],
    ['a name that begins like ours', { host: 'localhost.evil.example.com' }],
    ['a page of elsewhere', { origin: 'http://evil.example.com' }],
    ['a page that hides where it is from', { origin: 'null' }],
    ['a page with a user in its origin', { origin: 'http://evil.example.com@127.0.0.1' }],
    ['an origin with a path', { origin: 'http://localhost/evil.example.com' }],
    ['a page that is not of the web', { origin: 'chrome-extension://localhost' }],
    ['a name with a user', { host: 'evil.example.com@127.0.0.1' }],
    ['a number that reads as ours', { host: '2130706433' }],
  ])('refuses %s with 403, with or without the token', async (_what, headers) => {
    const server = await echoServer()
    const answer = await ask(server.url, { headers })
    expect(answer.status).toBe(403)
    expect(JSON.parse(answer.body)).toMatchObject({
      error: { message: expect.stringContaining('not served here') },
    })
    expect(server.sessions).toBe(0)
  })

  it.each(['localhost', 'LOCALHOST:1', '127.0.0.1:1', '[::1]:1'])('accepts the host %s', async (host) => {
    const { url } = await echoServer()
    expect(await ask(url, { headers: { host, origin: `http://${host}` } })).toMatchObject({ status: 200 })
  })
})

describe('a server over HTTP', () => {
  it('listens on the loopback only', async () => {
    expect(new URL((await echoServer()).url).hostname).toBe('127.0.0.1')
  })

  it('serves several clients at once, each in its own session', async () => {
    const server = await echoServer()
    const clients = await Promise.all([connected(server), connected(server), connected(server)])
    expect(server.sessions).toBe(3)
    const answers = await Promise.all(
      clients.map((client, index) => client.callTool({ name: 'echo', arguments: { index } })),
    )
    expect(answers.map(({ content }) => content)).toEqual(
      [0, 1, 2].map((index) => [{ type: 'text', text: `{"index":${index}}` }]),
    )
  })

  it('ends a session on request of its client', async () => {
    const server = await echoServer()
    const client = await connected(server)
    const { transport } = client
    if (!(transport instanceof StreamableHTTPClientTransport)) throw new Error('another transport')
    await transport.terminateSession()
    expect(server.sessions).toBe(0)
  })

  it('refuses other paths, unknown sessions and uninitialized ones', async () => {
    const opened: McpSession[] = []
    const server = await echoServer({}, () => {}, opened)
    const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    expect((await ask(server.url.replace('/mcp', '/'))).status).toBe(404)
    expect((await ask(server.url, { headers: { 'mcp-session-id': 'unknown' }, body: list })).status).toBe(404)
    expect((await ask(server.url, { body: list })).status).toBe(400)
    expect((await ask(server.url, { method: 'GET' })).status).toBe(400)
    expect((await ask(server.url, { body: '{"half' })).status).toBe(400)
    expect(server.sessions).toBe(0)
    expect(opened.map(({ signal }) => signal.aborted)).toEqual(opened.map(() => true))
  })

  it('refuses a body beyond the limit with 413, and keeps running', async () => {
    const server = await echoServer({ maxBodyBytes: 1000 })
    const answer = await ask(server.url, { body: JSON.stringify({ padding: 'x'.repeat(2000) }) })
    expect(answer.status).toBe(413)
    expect(JSON.parse(answer.body)).toMatchObject({ error: { message: expect.stringContaining('1000') } })
    await expect(connected(server)).resolves.toBeInstanceOf(Client)
  })

  it('refuses more sessions than the limit with 503, while all are connected', async () => {
    const held = Promise.withResolvers<void>()
    const server = await echoServer({ maxSessions: 1 }, held.resolve)
    const client = await connected(server)
    client.callTool({ name: 'hold' }).catch(() => {})
    await held.promise
    expect((await ask(server.url)).status).toBe(503)
    expect(server.sessions).toBe(1)
  })

  it('replaces the session of a disconnected client', async () => {
    const server = await echoServer({ maxSessions: 1 })
    const gone = await ask(server.url)
    await connected(server)
    expect(server.sessions).toBe(1)
    const headers = { 'mcp-session-id': String(gone.headers['mcp-session-id']) }
    expect((await ask(server.url, { headers })).status).toBe(404)
  })

  it('ends idle sessions', async () => {
    const server = await echoServer({ maxIdleMs: 20 })
    await ask(server.url)
    await vi.waitFor(() => expect(server.sessions).toBe(0), 20_000)
  })

  it('replays missed events to a client that reconnects', async () => {
    const { url } = await echoServer()
    const { headers } = await ask(url)
    const session = {
      'mcp-session-id': String(headers['mcp-session-id']),
      'mcp-protocol-version': '2025-11-25',
    }
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method: 'tools/call',
      params: { name: 'echo', arguments: {} },
    })
    const answer = await ask(url, { headers: session, body })
    const [, first] = /^id: (\d+)$/m.exec(answer.body) ?? []
    const again = await fetch(url, {
      headers: {
        ...session,
        accept: 'text/event-stream',
        authorization: `Bearer ${TOKEN}`,
        'last-event-id': String(first),
      },
    })
    const { value } = (await again.body?.pipeThrough(new TextDecoderStream()).getReader().read()) ?? {}
    expect(value).toContain('"id":7')
  })

  it('tolerates clients that disconnect during a request', async () => {
    const server = await echoServer()
    const { port } = new URL(server.url)
    const head = `POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKEN}\r\n`
    const type = 'content-type: application/json\r\naccept: application/json, text/event-stream\r\n'
    for (const start of ['POST', head, `${head}${type}content-length: 1000\r\n\r\n{"half`]) {
      const socket = connect(Number(port), '127.0.0.1')
      await once(socket, 'connect')
      await new Promise<void>((resolve) => socket.write(start, () => resolve()))
      socket.destroy()
    }
    await expect((await connected(server)).ping()).resolves.toEqual({})
    expect(server.sessions).toBe(1)
  })

  it('stops with connected clients', async () => {
    const server = await echoServer()
    await connected(server)
    await server.close()
    await expect(ask(server.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })
})
