import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server, request as sendRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseHostRule } from '../../../src/network/index.ts'
import { ProxyServer } from '../../../src/network/proxy/proxy-server.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { PROXY_BYTES } from '../programs.ts'

const PROXY_PORT = 18_311
const BARE_PORT = 18_312
const RELAY_PORT = 18_313
const SPLICE_PORT = 18_314
/** Bytes that a relay in C moves at once. */
const RELAY_BYTES = 2 ** 16
const PASSES = 5
const CONNECTIONS = 1000
const MIB = 2 ** 20
const run = promisify(execFile)
/** A server in a process of its own: sends as many bytes as the path says, and echoes what follows a CONNECT. */
const SERVER = `
  const { createServer } = require('node:net')
  const block = Buffer.alloc(${MIB})
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (head) => {
      const [, count] = /^GET \\/(\\d+)/.exec(head.toString('latin1')) ?? []
      if (count === undefined) return socket.end(head)
      let left = Number(count)
      socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: ' + left + '\\r\\nconnection: close\\r\\n\\r\\n')
      const send = () => {
        while (left > 0) {
          const part = left < block.length ? block.subarray(0, left) : block
          left -= part.length
          if (!socket.write(part)) return socket.once('drain', send)
        }
        socket.end()
      }
      send()
    })
  }).listen(0, '127.0.0.1', () => console.log(server.address().port))
`

/** Moves bytes from a server on the loopback directly and through the proxy, and opens many connections at once. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const server = spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output] = await once(server.stdout, 'data')
  const port = Number(String(output))
  const before = countDescriptors()
  try {
    const rules = [`127.0.0.1:${port}`].map(parseHostRule)
    await using proxy = new ProxyServer({ rules })
    await proxy.listen({ port: PROXY_PORT, host: '127.0.0.1', backlog: 2 * CONNECTIONS })
    await using _bare = await listenBare()
    using relay = startRelay(port)
    using splice = await startSplice(port, settings)
    const through = createProxyArgs(PROXY_PORT)
    const direct = ['--noproxy', '*']
    const ways = {
      direct: { port, args: direct },
      tunnel: { port, args: [...through, '-p'] },
      http: { port, args: through },
      bare: { port, args: createProxyArgs(BARE_PORT) },
      ...(relay !== undefined && { relay: { port: RELAY_PORT, args: direct } }),
      ...(splice !== undefined && { splice: { port: SPLICE_PORT, args: direct } }),
    }
    const best: Record<string, number> = {}
    // In turn, so that a busy machine slows down all of them.
    for (let pass = 0; pass <= PASSES; pass++) {
      for (const [way, { port: entrance, args }] of Object.entries(ways)) {
        recorder.progress(way)
        const seconds = await download(entrance, args)
        if (pass > 0) best[way] = Math.min(best[way] ?? seconds, seconds)
      }
    }
    for (const [way, seconds] of Object.entries(best)) recorder.note(`proxy-${way}`, seconds)
    recorder.progress('connections')
    recorder.note('proxy-connections', (await openAtOnce(port)) / CONNECTIONS)
  } finally {
    server.kill()
  }
  await once(server, 'exit')
  recorder.note('proxy-left', Math.max(0, countDescriptors() - before))
}

function createProxyArgs(port: number): string[] {
  return ['-x', `http://127.0.0.1:${port}`, '--noproxy', '']
}

/** The least that a proxy for plain HTTP does in Node: it sends each request on, and pipes the answer back. */
async function listenBare(): Promise<Server> {
  const server = createServer(({ method, url = '', headers }, response) => {
    const upstream = sendRequest(url, { method, headers })
    upstream.once('response', (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(response)
    })
    upstream.end()
  })
  server.listen(BARE_PORT, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** Starts a relay in C that parses nothing; undefined where there is no `socat`. */
function startRelay(port: number): Disposable | undefined {
  if (spawnSync('socat', ['-V'], { stdio: 'ignore' }).status !== 0) return undefined
  const entrance = `TCP-LISTEN:${RELAY_PORT},bind=127.0.0.1,fork,reuseaddr`
  const relay = spawn('socat', ['-b', String(RELAY_BYTES), entrance, `TCP:127.0.0.1:${port}`], {
    stdio: 'ignore',
  })
  return { [Symbol.dispose]: () => relay.kill() }
}

/** Starts a relay that moves the bytes from socket to socket inside the kernel; undefined where there is no `haproxy`. */
async function startSplice(port: number, { directory }: Settings): Promise<Disposable | undefined> {
  if (spawnSync('haproxy', ['-v'], { stdio: 'ignore' }).status !== 0) return undefined
  const file = join(directory, 'haproxy.cfg')
  const lines = [
    'defaults',
    '  mode tcp',
    '  option splice-auto',
    '  timeout connect 5s',
    '  timeout client 60s',
    '  timeout server 60s',
    'frontend entrance',
    `  bind 127.0.0.1:${SPLICE_PORT}`,
    '  default_backend target',
    'backend target',
    `  server target 127.0.0.1:${port}`,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const relay = spawn('haproxy', ['-q', '-db', '-f', file], { stdio: 'ignore' })
  while (!(await canConnect(SPLICE_PORT))) await new Promise(setImmediate)
  return { [Symbol.dispose]: () => relay.kill() }
}

function canConnect(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  socket.once('connect', () => socket.destroy())
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  })
}

async function download(port: number, args: readonly string[]): Promise<number> {
  const begun = performance.now()
  await run('curl', ['-sSf', '-o', '/dev/null', ...args, `http://127.0.0.1:${port}/${PROXY_BYTES}`])
  return (performance.now() - begun) / 1000
}

/** Opens tunnels all at once and sends a line through each. Returns the seconds until the last one has its answer. */
async function openAtOnce(port: number): Promise<number> {
  const begun = performance.now()
  const sockets = Array.from({ length: CONNECTIONS }, () => connect(PROXY_PORT, '127.0.0.1'))
  const answers = await Promise.all(sockets.map((socket) => exchange(socket, port)))
  const seconds = (performance.now() - begun) / 1000
  const wrong = answers.filter((answer) => !answer.endsWith('\r\n\r\nhello'))
  if (wrong.length > 0) throw new Error(`${wrong.length} of ${CONNECTIONS} connections failed`)
  return seconds
}

async function exchange(socket: Socket, port: number): Promise<string> {
  socket.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\nhello`)
  return (await socket.toArray()).join('')
}

function countDescriptors(): number {
  return readdirSync('/proc/self/fd').length
}
