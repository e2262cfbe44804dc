import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  EventLog,
  type HandledMethod,
  OneTimeCodes,
  readPageFiles,
  serveWeb,
  type WebServer,
} from '../../src/web-server/transport/index.ts'
import { followBlocks, openRaw, sendRaw, WebClient } from './web-client.ts'

interface Scene {
  readonly server: WebServer
  readonly events: EventLog
  readonly client: WebClient
  /** Names of methods that were performed. */
  readonly performed: string[]
  /** Moves the clock of the codes. */
  readonly clock: { ms: number }
}

async function openScene(): Promise<Scene> {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-page-'))
  for (const name of ['index.html', 'compare.html'])
    writeFileSync(join(directory, name), '<!doctype html><title>page</title>')
  writeFileSync(join(directory, 'app-1234.js'), 'export {}')
  writeFileSync(join(directory, 'notes.txt'), 'not of the page')
  mkdirSync(join(directory, 'sub'))
  writeFileSync(join(directory, 'sub', 'deep.js'), 'hidden')
  symlinkSync('/etc/passwd', join(directory, 'passwd.js'))
  const performed: string[] = []
  const method = (name: string, verb: 'GET' | 'POST'): [string, HandledMethod] => [
    name,
    {
      verb,
      run: async (params) => {
        performed.push(name)
        return { params }
      },
    },
  ]
  const clock = { ms: 0 }
  const events = new EventLog()
  const server = await serveWeb({
    port: 0,
    page: readPageFiles(directory),
    methods: new Map([method('look', 'GET'), method('change', 'POST')]),
    events,
    toJson: (value) => JSON.stringify(value).replaceAll('hush', '[redacted]'),
    codes: new OneTimeCodes(() => clock.ms),
  })
  onTestFinished(async () => {
    await server.close()
    rmSync(directory, { recursive: true })
  })
  return { server, events, performed, clock, client: await WebClient.open(server.createLink()) }
}

/** The head of a request as a hostile client writes it. */
function head(line: string, headers: Readonly<Record<string, string>>): string {
  return `${line} HTTP/1.1\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`
}

function statusIn(response: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(response)?.[1])
}

describe('a request of another site', () => {
  const good = ({ server, client }: Scene) => ({
    host: `127.0.0.1:${server.port}`,
    authorization: `Bearer ${client.token}`,
    connection: 'close',
  })

  it('is refused by its Host, also with the token', async () => {
    const scene = await openScene()
    const { port } = scene.server
    const hosts = [
      'evil.example',
      `evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      `localhost:${port}`,
      `LOCALHOST:${port}`,
      '127.0.0.1',
      `127.0.0.1:${port + 1}`,
      `127.0.0.1:0${port}`,
      `[::1]:${port}`,
      `127.1:${port}`,
      `2130706433:${port}`,
      `0.0.0.0:${port}`,
      `user@127.0.0.1:${port}`,
      `127.0.0.1:${port}, evil.example`,
      '',
    ]
    for (const target of ['GET /', 'GET /api/look', 'GET /api/events'])
      for (const host of hosts) {
        const answer = await sendRaw(port, head(target, { ...good(scene), host }))
        expect([400, 403], `${target} of ${host}`).toContain(statusIn(answer))
      }
    expect(scene.performed).toEqual([])
    const missing = `GET /api/look HTTP/1.1\r\nauthorization: Bearer ${scene.client.token}\r\n\r\n`
    expect(statusIn(await sendRaw(port, missing))).toBe(400)
    expect(statusIn(await sendRaw(port, head('GET /api/look', good(scene))))).toBe(200)
  })

  it('is refused by its Origin and Sec-Fetch-Site', async () => {
    const scene = await openScene()
    const { port, origin } = scene.server
    const wrong: readonly Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: '' },
      { origin: `https://127.0.0.1:${port}` },
      { origin: `http://localhost:${port}` },
      { origin: `${origin}/` },
      { origin: `${origin}.evil.example` },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-origin, cross-site' },
    ]
    for (const headers of wrong)
      for (const target of ['GET /api/look', 'GET /api/events', 'POST /api/session']) {
        const answer = await sendRaw(port, head(target, { ...good(scene), ...headers }))
        expect(statusIn(answer), `${target} ${JSON.stringify(headers)}`).toBe(403)
      }
    const own = { ...good(scene), origin, 'sec-fetch-site': 'same-origin' }
    expect(statusIn(await sendRaw(port, head('GET /api/look', own)))).toBe(200)
    const opened = { ...good(scene), 'sec-fetch-site': 'none' }
    expect(statusIn(await sendRaw(port, head('GET /', opened)))).toBe(200)
    const linked = { ...good(scene), 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    const address = { ...linked, 'sec-fetch-dest': 'document' }
    expect(statusIn(await sendRaw(port, head('GET /', address)))).toBe(200)
    expect(statusIn(await sendRaw(port, head('GET /api/look', address)))).toBe(403)
    for (const destination of ['iframe', 'script', 'object', 'embed', 'image'])
      expect(statusIn(await sendRaw(port, head('GET /', { ...linked, 'sec-fetch-dest': destination })))).toBe(
        403,
      )
  })

  it('gets no CORS header, and no answer to a preflight', async () => {
    const { server, client, performed } = await openScene()
    for (const path of ['/', '/api/look', '/api/change', '/api/session', '/api/events', '/api/none']) {
      const response = await fetch(server.origin + path, {
        method: 'OPTIONS',
        headers: {
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization, content-type',
          'access-control-request-private-network': 'true',
        },
      })
      expect([401, 405]).toContain(response.status)
      expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    }
    const response = await client.request('getStatus', {})
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(performed).toEqual([])
  })

  it('cannot change anything by a form or another simple request', async () => {
    const { server, client, performed } = await openScene()
    const types = [
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain',
      'text/plain; application/json',
      'application/json-patch+json',
      'application/json; charset=utf-7',
      '',
    ]
    for (const type of types) {
      const response = await fetch(`${server.origin}/api/change`, {
        method: 'POST',
        headers: { authorization: `Bearer ${client.token}`, 'content-type': type },
        body: '{}',
      })
      expect(response.status, type).toBe(415)
    }
    const headers = { authorization: `Bearer ${client.token}` }
    expect((await fetch(`${server.origin}/api/change`, { headers })).status).toBe(404)
    const method = 'POST'
    const json = { ...headers, 'content-type': 'application/json' }
    expect((await fetch(`${server.origin}/api/look`, { method, headers: json, body: '{}' })).status).toBe(404)
    for (const method of ['PUT', 'PATCH', 'DELETE', 'HEAD', 'TRACE'])
      expect(
        statusIn(
          await sendRaw(
            server.port,
            head(`${method} /api/change`, {
              host: `127.0.0.1:${server.port}`,
              ...headers,
              connection: 'close',
            }),
          ),
        ),
      ).toBe(405)
    expect(performed).toEqual([])
  })
})

describe('a session', () => {
  it('needs a token in the header; one in the address, a cookie or a body counts for nothing', async () => {
    const { server, client, performed } = await openScene()
    const { token } = client
    const tries: readonly [string, Record<string, string>][] = [
      ['/api/look', {}],
      [`/api/look?token=${token}`, {}],
      [`/api/look?access_token=${token}&authorization=Bearer%20${token}`, {}],
      ['/api/look', { cookie: `token=${token}; authorization=Bearer ${token}` }],
      ['/api/look', { authorization: `Basic ${token}` }],
      ['/api/look', { authorization: token }],
      ['/api/look', { authorization: `Bearer ${token}x` }],
      ['/api/look', { authorization: `Bearer ${token.slice(0, -1)}` }],
      ['/api/look', { authorization: 'Bearer ' }],
      ['/api/look', { authorization: `Bearer wrong ${token}` }],
      [`/api/events?token=${token}`, {}],
    ]
    for (const [path, headers] of tries)
      expect((await fetch(server.origin + path, { headers })).status, path).toBe(401)
    expect(performed).toEqual([])
    const response = await fetch(`${server.origin}/api/look`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('set-cookie')).toBeNull()
  })

  it('opens once for a code', async () => {
    const { server } = await openScene()
    const link = server.createLink()
    await WebClient.open(link)
    await expect(WebClient.open(link)).rejects.toThrow('401')
  })

  it('opens for a code of the last minute only', async () => {
    const { server, clock } = await openScene()
    const link = server.createLink()
    const other = server.createLink()
    clock.ms += 59_999
    await WebClient.open(link)
    clock.ms += 1
    await expect(WebClient.open(other)).rejects.toThrow('401')
  })

  it('does not open for somebody who tries codes in turn', async () => {
    const { server } = await openScene()
    const link = server.createLink()
    for (let at = 0; at < 10; at++)
      await expect(WebClient.open(`${server.origin}/#guess-${at}`)).rejects.toThrow('401')
    await expect(WebClient.open(link)).rejects.toThrow('401')
    await WebClient.open(server.createLink())
  })

  it('does not open for a code in the address or of another type', async () => {
    const { server } = await openScene()
    const code = new URL(server.createLink()).hash.slice(1)
    const post = (path: string, body: string) =>
      fetch(server.origin + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    expect((await post(`/api/session?code=${code}`, '{}')).status).toBe(401)
    expect((await post('/api/session', JSON.stringify({ code: [code] }))).status).toBe(401)
    expect((await post('/api/session', JSON.stringify(code))).status).toBe(401)
    expect((await post('/api/session', '{"code":')).status).toBe(400)
    expect((await post('/api/session', JSON.stringify({ code, more: 'x'.repeat(2000) }))).status).toBe(413)
    expect((await post('/api/session', JSON.stringify({ code }))).status).toBe(200)
  })
})

describe('the files of the page', () => {
  it('have strict headers and no inline script', async () => {
    const { server } = await openScene()
    const response = await fetch(`${server.origin}/compare?from=vault:a&to=vault:b`)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy') ?? ''
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
    ])
      expect(policy).toContain(part)
    expect(policy).not.toContain('unsafe')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('x-frame-options')).toBe('DENY')
  })

  it('are named exactly; no address leads to another file of the machine', async () => {
    const { server } = await openScene()
    const { port } = server
    const served = await sendRaw(
      port,
      head('GET /app-1234.js', { host: `127.0.0.1:${port}`, connection: 'close' }),
    )
    expect(served).toContain('text/javascript')
    for (const path of [
      '/../../../../etc/passwd',
      '/..%2f..%2fetc%2fpasswd',
      '/%2e%2e/%2e%2e/etc/passwd',
      '/..\\..\\etc\\passwd',
      '/....//....//etc/passwd',
      '//etc/passwd',
      '/./app-1234.js',
      '/app-1234.js/',
      '/app-1234.js%00.html',
      '/APP-1234.js',
      '/app%2D1234.js',
      '/sub/deep.js',
      '/sub%2fdeep.js',
      '/passwd.js',
      '/notes.txt',
      '/index.html/..',
      '/constructor',
      '/__proto__',
    ]) {
      const answer = await sendRaw(
        port,
        head(`GET ${path}`, { host: `127.0.0.1:${port}`, connection: 'close' }),
      )
      expect(statusIn(answer), path).toBe(404)
    }
  })
})

describe('a request that can be read in two ways', () => {
  it('is refused, and its connection ends', async () => {
    const { server, client, performed } = await openScene()
    const { port } = server
    const host = `host: 127.0.0.1:${port}\r\n`
    const token = `authorization: Bearer ${client.token}\r\n`
    const json = 'content-type: application/json\r\n'
    const hidden = `GET /api/look HTTP/1.1\r\n${host}${token}\r\n`
    const tries = [
      `POST /api/change HTTP/1.1\r\n${host}${token}${json}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
      `POST /api/change HTTP/1.1\r\n${host}${token}${json}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n${hidden}`,
      `POST /api/change HTTP/1.1\r\n${host}${token}${json}transfer-encoding: xchunked\r\ncontent-length: 2\r\n\r\n{}${hidden}`,
      `POST /api/change HTTP/1.1\r\n${host}${token}${json}content-length: 2\r\ncontent-length: 40\r\n\r\n{}${hidden}`,
      `POST /api/change HTTP/1.1\r\n${host}${token}${json}content-length: 2, 40\r\n\r\n{}${hidden}`,
      `POST /api/change HTTP/1.1\r\n${host}${token}${json}content-length: -1\r\n\r\n{}${hidden}`,
      `POST /api/change HTTP/1.1\r\n${host}${token}${json}content-length : 2\r\n\r\n{}${hidden}`,
      `GET /api/look HTTP/1.1\r\n${host}host: evil.example\r\n${token}\r\n${hidden}`,
      `GET /api/look HTTP/1.1\r\nhost: evil.example\r\n${host}${token}\r\n${hidden}`,
      `GET /api/look HTTP/1.1\r\n${host}${token}${token}\r\n${hidden}`,
      `GET /api/look HTTP/1.1\r\n${host}${token}origin: http://127.0.0.1:${port}\r\norigin: null\r\n\r\n${hidden}`,
      `GET http://evil.example/api/look HTTP/1.1\r\n${host}${token}\r\n${hidden}`,
      `GET /api/look HTTP/1.0\r\n${host}${token}\r\n${hidden}`,
      `GET /api/look HTTP/1.1\n${host}${token}\n${hidden}`,
      `GET /api/look\thttp HTTP/1.1\r\n${host}${token}\r\n${hidden}`,
      `GET /api/look HTTP/1.1\r\n${host}${token}content-length: 5\r\n\r\nhello${hidden}`,
      `GET /api/look HTTP/1.1\r\n${host}${token}x: a\r\n b\r\n\r\n${hidden}`.replace('x: a\r\n b', 'x: a\rb'),
      `POST /api/change HTTP/1.1\r\n${host}${token}${json}content-length: 2\r\nexpect: 100-continue\r\n\r\n{}${hidden}`,
    ]
    for (const text of tries) {
      const answer = await sendRaw(port, text)
      expect([400, 403, 411, 417], text).toContain(statusIn(answer))
      expect(answer.match(/^HTTP\/1\.1 \d/gm), text).toHaveLength(1)
    }
    expect(performed).toEqual([])
  })

  it('does not switch to a WebSocket or a tunnel', async () => {
    const { server, client } = await openScene()
    const { port } = server
    const headers = {
      host: `127.0.0.1:${port}`,
      authorization: `Bearer ${client.token}`,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    }
    for (const line of ['GET /api/events', 'GET /', 'CONNECT evil.example:443', 'GET /api/look']) {
      expect(statusIn(await sendRaw(port, head(line, headers))), line).toBe(400)
    }
    const h2c = { ...headers, upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' }
    expect(statusIn(await sendRaw(port, head('GET /api/look', h2c)))).toBe(400)
    expect(statusIn(await sendRaw(port, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'))).toBe(400)
  })

  it('refuses parameters that are given twice', async () => {
    const { server, client } = await openScene()
    const headers = { authorization: `Bearer ${client.token}` }
    expect((await fetch(`${server.origin}/api/look?a=1&a=2`, { headers })).status).toBe(400)
  })
})

describe('requests that use up the server', () => {
  it('are refused when they are huge', async () => {
    const { server, client, performed } = await openScene()
    const { port } = server
    const host = { host: `127.0.0.1:${port}`, connection: 'close' }
    expect([400, 431]).toContain(
      statusIn(await sendRaw(port, head('GET /api/look', { ...host, long: 'x'.repeat(64 * 1024) }))),
    )
    expect([400, 431]).toContain(statusIn(await sendRaw(port, head(`GET /${'x'.repeat(9000)}`, host))))
    const announced = {
      ...host,
      authorization: `Bearer ${client.token}`,
      'content-type': 'application/json',
      'content-length': String(10 * 1024 * 1024),
    }
    const answer = await sendRaw(port, head('POST /api/change', announced))
    expect(statusIn(answer)).toBe(413)
    expect(performed).toEqual([])
  })

  it('do not keep others out when they are slow', async () => {
    const { server, client } = await openScene()
    const { port } = server
    const begun = `POST /api/session HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`
    const slow = await Promise.all(Array.from({ length: 100 }, () => openRaw(port, begun)))
    const unfinished = await Promise.all(
      Array.from({ length: 100 }, () => openRaw(port, 'GET / HTTP/1.1\r\nhost: ')),
    )
    const response = await fetch(`${server.origin}/api/look`, {
      headers: { authorization: `Bearer ${client.token}` },
    })
    expect(response.status).toBe(200)
    for (const socket of [...slow, ...unfinished]) socket.destroy()
  })

  it('have an answer only if there was one: a connection without any just ends', async () => {
    const { server } = await openScene()
    expect(await sendRaw(server.port, '')).toBe('')
  }, 30_000)

  it('get a bounded number of streams, and methods still answer', async () => {
    const { server, client } = await openScene()
    const { port } = server
    const request = head('GET /api/events', {
      host: `127.0.0.1:${port}`,
      authorization: `Bearer ${client.token}`,
    })
    const sockets = await Promise.all(
      Array.from({ length: 1000 }, () => openRaw(port, request).catch(() => undefined)),
    )
    const headers = { authorization: `Bearer ${client.token}` }
    await expect
      .poll(async () => (await fetch(`${server.origin}/api/look`, { headers })).status, { timeout: 20_000 })
      .toBe(200)
    expect(server.streams).toBeLessThanOrEqual(32)
    for (const socket of sockets) socket?.destroy()
    await expect.poll(() => server.streams, { timeout: 10_000 }).toBe(0)
  })
})

describe('the event stream', () => {
  it('sends what was missed after a position, and then what follows', async () => {
    const { client, events } = await openScene()
    const start = events.position
    events.add({ type: 'log', pid: 1, text: 'first' })
    events.add({ type: 'log', pid: 1, text: 'a hush hush' })
    const stream = await followBlocks(client, start)
    expect((await stream.next()).value).toContain('first')
    const second: string = (await stream.next()).value
    expect(second).toContain('a [redacted] [redacted]')
    events.add({ type: 'trees' })
    expect((await stream.next()).value).toContain('{"type":"trees"}')
    const position = /^id: (\S+)/.exec(second)?.[1]
    const again = await followBlocks(client, position)
    expect((await again.next()).value).toContain('{"type":"trees"}')
  })

  it('says that everything must be read again where events are lost', async () => {
    const { client, events } = await openScene()
    const start = events.position
    for (let at = 0; at < 12_600; at++) events.add({ type: 'trees' })
    for (const position of [start, undefined, '0123456789abcdef.5', 'nonsense', `${start}9999999`]) {
      const stream = await followBlocks(client, position)
      const block: string = (await stream.next()).value
      expect(block).toContain('{"type":"reset"}')
      expect(block).toContain(events.position)
    }
  })
})
