import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { request as sendRequest } from 'node:http'
import { createServer as createHttpsServer, type Server } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseHostRule } from '../host-rule.ts'
import { CertificateAuthority } from '../tls/certificate-authority.ts'
import { ProxyServer } from './proxy-server.ts'

const VALUE = 'real-value-of-the-key'
const PLACEHOLDER = `coppice-secret-${'0a'.repeat(16)}`
const OTHER = `coppice-secret-${'0b'.repeat(16)}`
/** What the server saw: the request line, its headers as JSON, and its body. */
let received: string[] = []
let directory = ''
/** The authority of the internet, which signs for the server, and that of the home. */
let internet: CertificateAuthority
let authority: CertificateAuthority
let server: Server
let port = 0

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'coppice-inject-'))
  internet = CertificateAuthority.open(mkdtempSync(join(directory, 'internet-')))
  authority = CertificateAuthority.open(mkdtempSync(join(directory, 'home-')))
  server = createHttpsServer(
    { SNICallback: (name, done) => done(null, internet.getServerContext(name)) },
    async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString()
      received.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)} ${body}`)
      // An echo, in pieces.
      const text = `auth=${request.headers.authorization}; body=${body}`
      response.setHeader('x-echo', String(request.headers.authorization))
      for (const piece of text.match(body.length > 100 ? /.{1,65536}/gs : /.{1,7}/gs) ?? [])
        response.write(piece)
      response.end()
    },
  )
  server.on('upgrade', (request, socket) => {
    received.push(`UPGRADE ${request.headers.authorization}`)
    socket.on('error', () => {})
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
    socket.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address: AddressInfo | string | null = server.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
})

beforeEach(() => {
  received = []
})

afterAll(() => {
  server.close()
  server.closeAllConnections()
  rmSync(directory, { recursive: true, force: true })
})

async function openProxy(options: { roots?: string } = {}) {
  const hosts = [`bound.example:${port}`, `other.example:${port}`, `127.0.0.1:${port}`]
  const proxy = new ProxyServer({
    rules: hosts.map(parseHostRule),
    resolve: async () => ['127.0.0.1'],
    injection: {
      secrets: [
        { placeholder: PLACEHOLDER, value: VALUE, hosts: [parseHostRule(`bound.example:${port}`)] },
        { placeholder: OTHER, value: 'value of another host', hosts: [parseHostRule('elsewhere.example')] },
      ],
      authority,
      roots: options.roots ?? internet.certificate,
    },
  })
  const path = join(directory, `${process.hrtime.bigint()}`)
  await proxy.listen({ path })
  /** Opens a tunnel to a host, and TLS in it as a program of a session does. */
  const open = async (host: string, tls: ConnectionOptions = {}): Promise<TLSSocket> => {
    const socket = await openTunnel(path, `${host}:${port}`)
    const roots = [authority.certificate, internet.certificate]
    const secure = connectTls({ socket, servername: host, ca: roots, ...tls })
    await once(secure, 'secureConnect')
    return secure
  }
  /** Sends text and returns everything until the other side closes. */
  const exchange = async (host: string, text: string): Promise<string> => {
    const socket = await open(host)
    socket.write(text)
    return (await socket.toArray()).join('')
  }
  return { proxy, path, open, exchange, [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose]() }
}

async function openTunnel(path: string, target: string): Promise<Socket> {
  const socket = connect({ path })
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`)
  const [reply] = await once(socket, 'data')
  expect(String(reply)).toMatch(/^HTTP\/1.1 200 /)
  return socket
}

function get(host: string, headers: readonly string[], path = '/'): string {
  return [`GET ${path} HTTP/1.1`, `Host: ${host}:${port}`, ...headers, 'Connection: close', '', ''].join(
    '\r\n',
  )
}

describe('a placeholder in a header', () => {
  it('becomes the value for a host that it is bound to, which never shows it', async () => {
    await using at = await openProxy()
    const reply = await at.exchange(
      'bound.example',
      get('bound.example', [`Authorization: Bearer ${PLACEHOLDER}`]),
    )
    expect(received).toEqual([expect.stringContaining(`"authorization":"Bearer ${VALUE}"`)])
    expect(reply).toContain('200 OK')
    expect(reply).not.toContain(VALUE)
    expect(reply.split(PLACEHOLDER)).toHaveLength(3)
  })

  it('becomes the value in Basic credentials', async () => {
    await using at = await openProxy()
    const encode = (text: string) => Buffer.from(text).toString('base64')
    const header = `Authorization: Basic ${encode(`me:${PLACEHOLDER}`)}`
    await at.exchange('bound.example', get('bound.example', [header]))
    expect(received.join()).toContain(`Basic ${encode(`me:${VALUE}`)}`)
  })

  it('stays one for any other host, whose TLS is its own', async () => {
    await using at = await openProxy()
    const socket = await at.open('other.example')
    expect(socket.getPeerX509Certificate()?.verify(certificateKey(internet))).toBe(true)
    socket.write(get('other.example', [`Authorization: Bearer ${PLACEHOLDER}`]))
    await socket.toArray()
    expect(received.join()).toContain(`Bearer ${PLACEHOLDER}`)
  })

  it('of another secret stays one', async () => {
    await using at = await openProxy()
    await at.exchange('bound.example', get('bound.example', [`Authorization: Bearer ${OTHER}`]))
    expect(received.join()).toContain(`Bearer ${OTHER}`)
  })

  it('stays one in a path, a query, a body and the name of a header', async () => {
    await using at = await openProxy()
    const head = `POST /${PLACEHOLDER}?q=${PLACEHOLDER} HTTP/1.1\r\nHost: bound.example:${port}\r\nConnection: close\r\n`
    const length = `X-${PLACEHOLDER}: 1\r\nContent-Length: ${PLACEHOLDER.length}\r\n\r\n`
    await at.exchange('bound.example', head + length + PLACEHOLDER)
    expect(received).toHaveLength(1)
    expect(received.join()).not.toContain(VALUE)
    expect(received.join().split(PLACEHOLDER)).toHaveLength(5)
  })

  it('stays one over plain HTTP', async () => {
    await using at = await openProxy()
    const socket = connect({ path: at.path })
    socket.write(`GET http://bound.example:${port}/ HTTP/1.1\r\nHost: bound.example:${port}\r\n`)
    socket.write(`Authorization: Bearer ${PLACEHOLDER}\r\nConnection: close\r\n\r\n`)
    await socket.toArray()
    const tunnel = await openTunnel(at.path, `bound.example:${port}`)
    tunnel.on('error', () => {})
    tunnel.write(get('bound.example', [`Authorization: Bearer ${PLACEHOLDER}`]))
    await once(tunnel.resume(), 'close')
    expect(received).toEqual([])
  })
})

describe('a request to a bound host', () => {
  it.each([
    ['another Host header', () => get('other.example', [`Authorization: ${PLACEHOLDER}`])],
    [
      'a second Host header',
      () => get('bound.example', ['Host: other.example', `Authorization: ${PLACEHOLDER}`]),
    ],
    [
      'an address of another host',
      () => get('bound.example', [`Authorization: ${PLACEHOLDER}`], `https://other.example:${port}/`),
    ],
    ['both lengths', () => get('bound.example', ['Content-Length: 4', 'Transfer-Encoding: chunked'])],
    ['a space before the colon', () => get('bound.example', ['Content-Length : 4'])],
    ['a bare line feed', () => get('bound.example', ['X-One: 1\nX-Two: 2'])],
    ['a folded header', () => get('bound.example', ['X-One: 1\r\n two'])],
  ])('is refused with %s', async (_, request) => {
    await using at = await openProxy()
    expect(await at.exchange('bound.example', request())).not.toContain('200 OK')
    expect(received).toEqual([])
  })

  it('is refused if TLS asks for another host', async () => {
    await using at = await openProxy()
    await expect(
      at.open('bound.example', { servername: 'other.example', rejectUnauthorized: false }),
    ).rejects.toThrow()
    expect(received).toEqual([])
  })

  it('fails if the server is not trusted', async () => {
    await using at = await openProxy({ roots: authority.certificate })
    const reply = await at.exchange('bound.example', get('bound.example', [`Authorization: ${PLACEHOLDER}`]))
    expect(reply).toMatch(/^HTTP\/1.1 502 .*bound\.example:\d+ cannot be trusted/s)
    expect(received).toEqual([])
  })

  it('keeps its connection for the next one', async () => {
    await using at = await openProxy()
    const socket = await at.open('bound.example')
    const one = `GET /1 HTTP/1.1\r\nHost: bound.example:${port}\r\nAuthorization: ${PLACEHOLDER}\r\n\r\n`
    socket.write(one)
    await once(socket, 'data')
    socket.write(one + get('bound.example', [], '/2'))
    await socket.toArray()
    expect(received).toHaveLength(3)
    expect(at.proxy.listConnections()).toMatchObject([{ host: 'bound.example', connections: 1 }])
  })

  it('streams in both directions', async () => {
    await using at = await openProxy()
    const socket = await at.open('bound.example')
    const request = sendRequest({
      createConnection: () => socket,
      method: 'POST',
      headers: { host: `bound.example:${port}` },
    })
    for (let part = 0; part < 4; part++) request.write('x'.repeat(2 ** 20))
    request.end()
    const [response] = await once(request, 'response')
    let length = 0
    for await (const chunk of response) length += chunk.length
    expect(length).toBe('auth=undefined; body='.length + 4 * 2 ** 20)
  })

  it('may change to another protocol', async () => {
    await using at = await openProxy()
    const socket = await at.open('bound.example')
    const asked = [`Authorization: ${PLACEHOLDER}`, 'Connection: Upgrade', 'Upgrade: echo']
    socket.write([`GET / HTTP/1.1`, `Host: bound.example:${port}`, ...asked, '', ''].join('\r\n'))
    const [reply] = await once(socket, 'data')
    expect(String(reply)).toMatch(/^HTTP\/1.1 101 .*Upgrade: echo\r\n\r\n$/s)
    socket.write('there and back')
    expect(String((await once(socket, 'data'))[0])).toBe('there and back')
    expect(received).toEqual([`UPGRADE ${VALUE}`])
    socket.destroy()
  })
})

describe('the authority of a home', () => {
  it('is the same every time, and its file is private', () => {
    const home = mkdtempSync(join(directory, 'again-'))
    const { certificate } = CertificateAuthority.open(home)
    expect(CertificateAuthority.open(home).certificate).toBe(certificate)
    expect(certificate).not.toContain('PRIVATE')
    expect(statSync(join(home, 'session-authority.pem')).mode & 0o777).toBe(0o600)
  })
})

function certificateKey({ certificate }: CertificateAuthority) {
  return new X509Certificate(certificate).publicKey
}
