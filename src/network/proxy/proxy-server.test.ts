import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseHostRule } from '../host-rule.ts'
import { ProxyServer } from './proxy-server.ts'

let directory = ''
let echo: Server
let web: Server
let received: string[] = []
let port = 0
let webPort = 0

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'coppice-proxy-'))
  echo = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    socket.pipe(socket)
  })
  web = createHttpServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    received.push(`${request.method} ${request.url} ${body}`)
    response.setHeader('keep-alive', 'timeout=5')
    response.setHeader('x-seen', JSON.stringify(request.headers))
    response.end(`seen ${request.url}`)
  })
  ;[port, webPort] = [await listen(echo), await listen(web)]
})

beforeEach(() => {
  received = []
})

afterAll(() => {
  echo.close()
  web.close()
  rmSync(directory, { recursive: true, force: true })
})

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address: AddressInfo | string | null = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Opens a proxy that allows `shop.example`, whose address is that of the servers here. */
async function openProxy(
  rules: readonly string[] = [`shop.example:${port}`, `shop.example:${webPort}`],
  options: { addresses?: readonly string[]; onProblem?: (line: string) => void } = {},
) {
  const { addresses = ['127.0.0.1'], onProblem } = options
  const named = [...rules, `127.0.0.1:${port}`, `127.0.0.1:${webPort}`].map(parseHostRule)
  const proxy = new ProxyServer({ rules: named, resolve: async () => addresses, onProblem })
  const path = join(directory, `${readdirSync(directory).length}-${process.hrtime.bigint()}`)
  await proxy.listen({ path })
  const open = async (): Promise<Socket> => {
    const socket = connect({ path, allowHalfOpen: true })
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  }
  /** Sends bytes and returns everything that comes back until the proxy closes. */
  const exchange = async (bytes: string | Buffer): Promise<string> => {
    const socket = await open()
    let reply = ''
    socket.setEncoding('latin1').on('data', (text: string) => {
      reply += text
    })
    socket.write(bytes)
    await Promise.race([once(socket, 'end'), once(socket, 'close')]).catch(() => undefined)
    socket.destroy()
    return reply
  }
  return { proxy, open, exchange, [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose]() }
}

function get(url: string, headers: readonly string[] = []): string {
  return [`GET ${url} HTTP/1.1`, ...headers, 'Connection: close', '', ''].join('\r\n')
}

async function readBytes(socket: Socket, count: number): Promise<Buffer> {
  let bytes = Buffer.alloc(0)
  while (bytes.length < count) {
    const chunk: unknown = socket.read()
    if (chunk instanceof Buffer) bytes = Buffer.concat([bytes, chunk])
    else await once(socket, 'readable')
  }
  socket.unshift(bytes.subarray(count))
  return bytes.subarray(0, count)
}

async function readHead(socket: Socket): Promise<string> {
  let head = ''
  while (!head.endsWith('\r\n\r\n')) head += (await readBytes(socket, 1)).toString('latin1')
  return head.toLowerCase()
}

/** Starts a server that answers each request by hand. */
async function listenRaw(answer: (socket: Socket, method: string) => void) {
  let requests = 0
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      requests++
      answer(socket, bytes.toString('latin1').split(' ')[0] ?? '')
    })
  })
  const target = `127.0.0.1:${await listen(server)}`
  return { target, count: () => requests, [Symbol.asyncDispose]: async () => void server.close() }
}

describe('HTTP through the proxy', () => {
  it('reaches an allowed host, and leaves out the headers of a connection', async () => {
    await using at = await openProxy()
    const reply = await at.exchange(
      get(`http://SHOP.example.:${webPort}/a//b/../c?d=e`, [
        `Host: shop.example:${webPort}`,
        'Proxy-Authorization: Basic c2VjcmV0',
        'X-Hop: 1',
        'Connection: X-Hop',
        'X-End: 2',
      ]),
    )
    expect(reply).toMatch(/^HTTP\/1.1 200 OK\r\n/)
    expect(reply).toContain('seen /a//b/../c?d=e')
    expect(reply).toContain(`\\"x-end\\":\\"2\\"`.replaceAll('\\', ''))
    expect(reply).not.toMatch(/secret|c2VjcmV0|x-hop|timeout=5/i)
  })

  it('decides about each request of a connection anew', async () => {
    await using at = await openProxy()
    const first = `GET http://shop.example:${webPort}/1 HTTP/1.1\r\nHost: shop.example:${webPort}\r\n\r\n`
    const reply = await at.exchange(
      first + get(`http://evil.example:${webPort}/2`, [`Host: evil.example:${webPort}`]),
    )
    expect(reply).toMatch(/ 200 OK.*seen \/1.* 403 Forbidden/s)
    expect(received).toEqual(['GET /1 '])
  })

  it('passes on a body, of known length or in chunks', async () => {
    await using at = await openProxy()
    const head = `POST http://shop.example:${webPort}/p HTTP/1.1\r\nHost: shop.example:${webPort}\r\nConnection: close\r\n`
    await at.exchange(`${head}Content-Length: 5\r\n\r\nhello`)
    await at.exchange(`${head}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`)
    expect(received).toEqual(['POST /p hello', 'POST /p hello'])
  })

  it.each([
    ['both lengths', 'Content-Length: 4\r\nTransfer-Encoding: chunked'],
    ['two lengths', 'Content-Length: 4\r\nContent-Length: 5'],
    ['an unknown coding', 'Transfer-Encoding: xchunked'],
    ['a coding after chunked', 'Transfer-Encoding: chunked, identity'],
    ['a folded header', 'X-One: 1\r\n two'],
    ['a space before the colon', 'Content-Length : 4'],
    ['a bare line feed', 'X-One: 1\nX-Two: 2'],
    ['a NUL', 'X-One: \0'],
  ])('refuses a request with %s', async (_, header) => {
    await using at = await openProxy()
    const host = `shop.example:${webPort}`
    const smuggled = `GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n`
    const reply = await at.exchange(
      `POST http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n${header}\r\n\r\n0\r\n\r\n${smuggled}`,
    )
    expect(reply).not.toContain('200 OK')
    expect(received).toEqual([])
  })

  it.each([
    ['another host', () => get(`http://shop.example:${webPort}/`, ['Host: evil.example'])],
    ['another port', () => get(`http://shop.example:${webPort}/`, ['Host: shop.example:1'])],
    [
      'two hosts',
      () => get(`http://shop.example:${webPort}/`, [`Host: shop.example:${webPort}`, 'Host: evil.example']),
    ],
  ])('refuses a Host header that names %s', async (_, request) => {
    await using at = await openProxy()
    expect(await at.exchange(request())).toMatch(/^HTTP\/1.1 400 /)
    expect(received).toEqual([])
  })

  it.each([
    ['a user name', () => `http://shop.example:${webPort}@127.0.0.2:${webPort}/`],
    ['a path alone', () => '/etc/passwd'],
    ['https', () => `https://shop.example:${webPort}/`],
  ])('refuses an address with %s', async (_, url) => {
    await using at = await openProxy()
    expect(await at.exchange(get(url(), ['Host: shop.example']))).toMatch(/^HTTP\/1.1 400 /)
  })

  it('closes on a flood of headers', async () => {
    await using at = await openProxy()
    const flood = Array.from({ length: 5000 }, (_, index) => `X-${index}: ${'x'.repeat(100)}`)
    expect(await at.exchange(get(`http://shop.example:${webPort}/`, flood))).toBe('')
  })

  it('says that a server gave no answer', async () => {
    await using at = await openProxy()
    const silent = createServer((socket) => socket.destroy())
    const silentPort = await listen(silent)
    await using other = await openProxy([`127.0.0.1:${silentPort}`])
    const target = `127.0.0.1:${silentPort}`
    expect(await other.exchange(get(`http://${target}/`, [`Host: ${target}`]))).toMatch(/^HTTP\/1.1 502 /)
    silent.close()
    expect(at.proxy.listConnections()).toEqual([])
  })
})

describe('CONNECT', () => {
  it('opens a tunnel that each side ends by itself, and counts its bytes', async () => {
    await using at = await openProxy()
    const socket = await at.open()
    socket.write(`CONNECT shop.example:${port} HTTP/1.1\r\nHost: shop.example:${port}\r\n\r\nearly `)
    const reply = 'HTTP/1.1 200 Connection established\r\n\r\n'
    expect((await readBytes(socket, reply.length)).toString()).toBe(reply)
    socket.end('late')
    expect((await socket.toArray()).join('')).toBe('early late')
    expect(at.proxy.listConnections()).toEqual([
      { host: 'shop.example', port, decision: 'allowed', connections: 1, bytes_sent: 10, bytes_received: 10 },
    ])
  })

  it('passes on what a client sends and ends before it has an answer', async () => {
    await using at = await openProxy()
    const socket = await at.open()
    socket.end(`CONNECT shop.example:${port} HTTP/1.1\r\nHost: shop.example:${port}\r\n\r\nearly`)
    expect((await socket.toArray()).join('')).toMatch(/^HTTP\/1.1 200 .*\r\n\r\nearly$/s)
  })

  it.each([
    'evil.example:443',
    '93.184.215.14:443',
    '[2606:4700::1111]:443',
    '2130706433:443',
    '0x7f.1:443',
    '[::ffff:127.0.0.1]:443',
  ])('refuses %s, and says what would allow it', async (target) => {
    const lines: string[] = []
    await using at = await openProxy(undefined, { onProblem: (line) => lines.push(line) })
    const request = `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`
    expect(await at.exchange(request)).toMatch(/^HTTP\/1.1 403 /)
    expect(await at.exchange(request)).toMatch(/^HTTP\/1.1 403 /)
    expect(lines).toEqual([
      expect.stringMatching(/^refused: .* is not an allowed host; .* --allow-host .* …$/),
    ])
    expect(at.proxy.listConnections()).toEqual([
      expect.objectContaining({ decision: 'refused', connections: 2, bytes_sent: 0 }),
    ])
  })

  it('says once that an allowed host cannot be reached', async () => {
    const lines: string[] = []
    await using at = await openProxy(['gone.example'], {
      addresses: [],
      onProblem: (line) => lines.push(line),
    })
    const request = 'CONNECT gone.example:443 HTTP/1.1\r\nHost: gone.example\r\n\r\n'
    expect(await at.exchange(request)).toMatch(/^HTTP\/1.1 502 /)
    await at.exchange(request)
    expect(lines).toEqual(['no connection: gone.example:443 has no address'])
  })

  it.each(['shop.example', 'me@shop.example:443', 'shop.example:99999', '/'])(
    'refuses %j as invalid',
    async (target) => {
      await using at = await openProxy()
      expect(await at.exchange(`CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)).not.toContain(' 200 ')
    },
  )

  it('refuses a name that leads to another address than it may', async () => {
    await using at = await openProxy([`shop.example:${port}`], { addresses: ['127.0.0.2'] })
    const target = `shop.example:${port}`
    const reply = await at.exchange(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`)
    expect(reply).toMatch(/^HTTP\/1.1 403 .*127\.0\.0\.2, which is not on the public internet/s)
  })
})

describe('SOCKS 5', () => {
  const GREETING = Buffer.from([5, 1, 0])

  function ask(command: number, host: string, targetPort: number): Buffer {
    const name = Buffer.from(host)
    const number = Buffer.from([targetPort >> 8, targetPort & 0xff])
    return Buffer.concat([GREETING, Buffer.from([5, command, 0, 3, name.length]), name, number])
  }

  it('connects to a name that is resolved outside', async () => {
    await using at = await openProxy()
    const socket = await at.open()
    for (const byte of ask(1, 'shop.example', port)) socket.write(Buffer.from([byte]))
    expect([...(await readBytes(socket, 12))]).toEqual([5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    socket.end('hello')
    expect((await socket.toArray()).join('')).toBe('hello')
  })

  it('passes on what a client sends and ends before it has an answer', async () => {
    await using at = await openProxy()
    const socket = await at.open()
    socket.end(Buffer.concat([ask(1, 'shop.example', port), Buffer.from('early')]))
    expect(Buffer.concat(await socket.toArray()).toString('latin1')).toMatch(/early$/)
  })

  it.each([
    ['a host that is not allowed', () => ask(1, 'evil.example', 443), 2],
    ['BIND', () => ask(2, 'shop.example', port), 7],
    ['UDP', () => ask(3, 'shop.example', port), 7],
    ['a name that is none', () => ask(1, 'a\0b', port), 8],
    ['an address', () => Buffer.concat([GREETING, Buffer.from([5, 1, 0, 1, 10, 0, 0, 1, 0, 80])]), 2],
  ])('refuses %s', async (_, bytes, code) => {
    await using at = await openProxy()
    const reply = Buffer.from(await at.exchange(bytes()), 'latin1')
    expect([...reply.subarray(0, 4)]).toEqual([5, 0, 5, code])
  })

  it('refuses a client that wants to log in', async () => {
    await using at = await openProxy()
    const socket = await at.open()
    socket.write(Buffer.from([5, 1, 2]))
    expect([...(await readBytes(socket, 2))]).toEqual([5, 0xff])
  })
})

describe('a forwarded port', () => {
  /** Forwards a port to some addresses of this machine. Returns what comes back for a text. */
  async function forwardTo(hosts: readonly string[], text: string) {
    const rules = hosts.map((host) => parseHostRule(`${host}:${port}`))
    await using proxy = new ProxyServer({ rules })
    const server = createServer()
    const from = await listen(server)
    await proxy.forward(
      server,
      hosts.map((host) => ({ host, port })),
    )
    const socket = connect({ port: from, host: '127.0.0.1' })
    socket.end(text)
    const reply = Buffer.concat(await socket.toArray().catch(() => [])).toString()
    return { reply, uses: proxy.listConnections().map(({ host, decision }) => `${decision} ${host}`) }
  }

  it('leads to the first address that answers', async () => {
    const { reply, uses } = await forwardTo(['127.0.0.2', '127.0.0.1', '127.0.0.3'], 'hello')
    expect(reply).toBe('hello')
    expect(uses).toEqual(['failed 127.0.0.2', 'allowed 127.0.0.1'])
  })

  it('is closed if none answers', async () => {
    expect(await forwardTo(['127.0.0.2'], 'hello')).toEqual({ reply: '', uses: ['failed 127.0.0.2'] })
  })
})

describe('a proxy', () => {
  it('closes every connection, and keeps no descriptor', async () => {
    const before = readdirSync('/proc/self/fd').length
    const at = await openProxy()
    const sockets = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const socket = await at.open()
        socket.write(`CONNECT shop.example:${port} HTTP/1.1\r\nHost: shop.example:${port}\r\n\r\n`)
        await readBytes(socket, 12)
        return socket
      }),
    )
    const closed = sockets.map((socket) => once(socket.resume(), 'end').then(() => socket.destroy()))
    await at[Symbol.asyncDispose]()
    await Promise.all(closed)
    await expect.poll(() => readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before)
    expect(at.proxy.listConnections()).toMatchObject([{ connections: 100 }])
  })

  it('passes on every byte, also to a client that stops reading now and then', async () => {
    await using at = await openProxy()
    const socket = await at.open()
    socket.write(`CONNECT shop.example:${port} HTTP/1.1\r\nHost: shop.example:${port}\r\n\r\n`)
    await readBytes(socket, 'HTTP/1.1 200 Connection established\r\n\r\n'.length)
    const sent = randomBytes(16 * 2 ** 20)
    socket.end(sent)
    const received: Buffer[] = []
    for await (const chunk of socket) {
      received.push(chunk)
      // The proxy gets turns to read on while the client does not.
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(Buffer.concat(received).equals(sent)).toBe(true)
  })

  it('passes on every byte of an answer, also to a client that stops reading now and then', async () => {
    const sent = randomBytes(16 * 2 ** 20)
    const large = createHttpServer((_request, response) => response.end(sent))
    const largePort = await listen(large)
    const target = `127.0.0.1:${largePort}`
    await using at = await openProxy([target])
    const socket = await at.open()
    socket.write(get(`http://${target}/`, [`Host: ${target}`]))
    const received: Buffer[] = []
    for await (const chunk of socket) {
      received.push(chunk)
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
    const all = Buffer.concat(received)
    expect(all.subarray(all.indexOf('\r\n\r\n') + 4).equals(sent)).toBe(true)
    large.close()
  })

  it('passes on exactly the announced length of a long answer, and serves the next request', async () => {
    const body = randomBytes(3 * 2 ** 20 + 17)
    const head = `Content-Length: ${body.length}\r\n\r\n`
    await using server = await listenRaw((socket, method) => {
      const isBare = method === 'HEAD' || method === 'OPTIONS'
      socket.write(`HTTP/1.1 ${method === 'OPTIONS' ? '304 Not Modified' : '200 OK'}\r\n${head}`)
      if (isBare) return
      // The beginning of the body comes with its head, and more than the body follows.
      socket.write(body.subarray(0, 100))
      socket.write(Buffer.concat([body.subarray(100), Buffer.from('HTTP/1.1 200 OK\r\n\r\nsmuggled')]))
    })
    await using at = await openProxy([server.target])
    const socket = await at.open()
    for (const method of ['HEAD', 'OPTIONS', 'GET', 'OPTIONS', 'GET']) {
      socket.write(`${method} http://${server.target}/ HTTP/1.1\r\nHost: ${server.target}\r\n\r\n`)
      expect(await readHead(socket)).toContain(`content-length: ${body.length}`)
      if (method === 'GET') expect((await readBytes(socket, body.length)).equals(body)).toBe(true)
    }
    socket.write(get(`http://${server.target}/`, [`Host: ${server.target}`]))
    expect(await readHead(socket)).toContain('connection: close')
    expect((await socket.toArray()).reduce((sum, chunk) => sum + chunk.length, 0)).toBe(body.length)
    expect(server.count()).toBe(6)
  })

  it('closes a client whose server ends within a long answer', async () => {
    const length = 4 * 2 ** 20
    await using server = await listenRaw((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`)
      socket.end(Buffer.alloc(length - 1))
    })
    await using at = await openProxy([server.target])
    const socket = await at.open()
    socket.write(`GET http://${server.target}/ HTTP/1.1\r\nHost: ${server.target}\r\n\r\n`)
    await readHead(socket)
    let count = 0
    for await (const chunk of socket) count += chunk.length
    expect(count).toBeLessThan(length)
  })

  it('waits for a client that reads slowly', async () => {
    await using at = await openProxy()
    const socket = await at.open()
    socket.write(`CONNECT shop.example:${port} HTTP/1.1\r\nHost: shop.example:${port}\r\n\r\n`)
    await readBytes(socket, 12)
    const size = 64 * 2 ** 20
    const block = Buffer.alloc(2 ** 20)
    let sent = 0
    // Nobody reads: after what the buffers hold, writing stops.
    while (sent < size && socket.write(block)) sent += block.length
    while (sent < size) {
      const drained = once(socket, 'drain').then(() => true)
      if (
        !(await Promise.race([
          drained,
          new Promise((done) => setImmediate(() => setTimeout(done, 100, false))),
        ]))
      )
        break
      sent += block.length
      socket.write(block)
    }
    expect(sent).toBeLessThan(size)
  })
})
