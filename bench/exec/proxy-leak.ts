import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { parseHostRule } from '../../src/network/index.ts'
import { ProxyServer } from '../../src/network/proxy/proxy-server.ts'
import { CertificateAuthority } from '../../src/network/tls/certificate-authority.ts'

/**
 * Opens connections through the proxy until the time is over, in every way that it offers and with every way to end, and
 * prints the open descriptors and the memory of the process in between. `node --expose-gc bench/exec/proxy-leak.ts 5`
 * runs for five minutes. It fails if descriptors are left.
 */
const [minutes = '1'] = process.argv.slice(2)
const BATCH = 40
const REPORT_MS = 15_000
const MIB = 2 ** 20
const PLACEHOLDER = `coppice-secret-${'0'.repeat(32)}`

const directory = mkdtempSync(join(tmpdir(), 'coppice-leak-'))
const authority = CertificateAuthority.open(directory)
const answer = 'x'.repeat(10_000)
const web = createServer((request, response) => void request.resume().on('end', () => response.end(answer)))
const secure = createTlsServer(
  { SNICallback: (name, done) => done(null, authority.getServerContext(name)) },
  (request, response) => void request.resume().on('end', () => response.end(answer)),
)
const [port, securePort] = [await listen(web), await listen(secure)]
const proxy = new ProxyServer({
  rules: [`127.0.0.1:${port}`, `127.0.0.1:${securePort}`, `bound.localhost:${securePort}`].map(parseHostRule),
  resolve: async () => ['127.0.0.1'],
  injection: {
    secrets: [
      { placeholder: PLACEHOLDER, value: 'a value', hosts: [parseHostRule(`bound.localhost:${securePort}`)] },
    ],
    authority,
    roots: authority.certificate,
  },
})
const path = join(directory, 'proxy')
await proxy.listen({ path })

const host = `127.0.0.1:${port}`
const bound = `bound.localhost:${securePort}`
const get = (url: string, name: string, end: string) => `GET ${url} HTTP/1.1\r\nHost: ${name}\r\n${end}\r\n`
const CLOSE = 'Connection: close\r\n'
/** Ways to use the proxy. Each ends when both sides are closed. */
const WAYS: readonly ((socket: Socket) => unknown)[] = [
  (socket) => socket.write(get(`http://${host}/`, host, CLOSE)),
  // Two requests on one connection, then the client leaves without an end.
  (socket) => {
    socket.write(get(`http://${host}/`, host, '') + get(`http://${host}/`, host, ''))
    socket.once('data', () => socket.destroy())
  },
  (socket) => socket.write(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n${get('/', host, CLOSE)}`),
  (socket) => {
    socket.write(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    socket.once('data', () => socket.destroy())
  },
  (socket) => socket.write('CONNECT refused.example:443 HTTP/1.1\r\nHost: refused.example:443\r\n\r\n'),
  (socket) => socket.end(`POST http://${host}/ HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 9\r\n\r\nhalf`),
  (socket) => {
    socket.write(Buffer.from([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 0xff]))
    socket.write(get('/', host, CLOSE))
  },
  (socket) =>
    useInjection(socket, (inside) =>
      inside.write(get('/', bound, `Authorization: ${PLACEHOLDER}\r\n${CLOSE}`)),
    ),
  (socket) =>
    useInjection(
      socket,
      (inside) => inside.write(get('/', bound, '')) && inside.once('data', () => inside.destroy()),
    ),
  // Not TLS at all.
  (socket) => socket.write(`CONNECT ${bound} HTTP/1.1\r\nHost: ${bound}\r\n\r\n${get('/', bound, CLOSE)}`),
]

const until = Date.now() + Number(minutes) * 60_000
let [count, reported] = [0, 0]
await openBatch()
await settle()
const before = countDescriptors()
report()
while (Date.now() < until) {
  await openBatch()
  if (Date.now() - reported > REPORT_MS) report()
}
await settle()
report()
const left = countDescriptors() - before
await proxy[Symbol.asyncDispose]()
for (const server of [web, secure]) server.close()
rmSync(directory, { recursive: true, force: true })
if (left > 0) throw new Error(`${left} descriptors are left`)

async function openBatch(): Promise<void> {
  await Promise.all(Array.from({ length: BATCH }, (_, index) => useProxy(index)))
  count += BATCH
}

async function useProxy(index: number): Promise<void> {
  const socket = connect({ path })
  socket.on('error', () => {})
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  socket.once('end', () => socket.destroy())
  WAYS[index % WAYS.length]?.(socket)
  socket.resume()
  await closed
}

function useInjection(socket: Socket, use: (inside: Socket) => unknown): void {
  socket.write(`CONNECT ${bound} HTTP/1.1\r\nHost: ${bound}\r\n\r\n`)
  socket.once('data', () => {
    const inside = connectTls({ socket, servername: 'bound.localhost', ca: authority.certificate })
    inside.on('error', () => {})
    inside.once('secureConnect', () => use(inside))
    inside.once('close', () => socket.destroy())
    inside.resume()
  })
}

/** Waits until the servers have seen that their clients left. */
async function settle(): Promise<void> {
  for (const server of [web, secure])
    while ((await countConnections(server)) > 0) await new Promise(setImmediate)
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, open) => resolve(open)))
}

function report(): void {
  globalThis.gc?.()
  reported = Date.now()
  const { rss, heapUsed } = process.memoryUsage()
  const memory = `${Math.round(rss / MIB)} MiB, heap ${Math.round(heapUsed / MIB)} MiB`
  process.stdout.write(`${count} connections, ${countDescriptors()} descriptors, ${memory}\n`)
}

function countDescriptors(): number {
  return readdirSync('/proc/self/fd').length
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
