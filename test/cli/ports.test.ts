import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage, request } from 'node:http'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFailed, onTestFinished } from 'vitest'
import { root } from '../support/run-node.ts'
import { whyNoOverlay } from '../support/tools.ts'
import { Cli } from './run-cli.ts'
import { Tmux, whyNoTmux } from './tmux.ts'

const why = whyNoOverlay()
const NOBODY = 65_534
const isRoot = process.getuid?.() === 0
const PATIENCE_MS = 20_000
const BECOME_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']

/** A server of a project: pages, an event stream, an echo after an upgrade; and a port on which it speaks first. */
const SERVER = `
const http = require('node:http'), net = require('node:net')
const [port, plain] = process.argv.slice(2).map(Number)
const server = http.createServer((request, response) => {
  if (request.url === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: first\\n\\n')
    request.once('close', () => console.log('closed'))
  } else response.end(process.env.COPPICE_FORK + ' at ' + request.headers.host)
})
server.on('upgrade', (request, socket) => {
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: echo\\r\\n\\r\\n')
  socket.pipe(socket)
})
server.listen(port)
if (plain) net.createServer((socket) => { socket.write('welcome '); socket.pipe(socket) }).listen(plain, '127.0.0.1')
`

interface Published {
  readonly port: number
  readonly url: string
  readonly address: string
}

function openProject(): Cli {
  const cli = new Cli()
  writeFileSync(join(cli.files, 'server.cjs'), SERVER)
  return cli
}

/** Starts the server of a project in a fork, and stops it after the test. */
function startServer(cli: Cli, fork: string, ports: readonly number[], options: readonly string[] = []) {
  const command = ['exec', '--fork', fork, ...options, '--', 'node', 'server.cjs', ...ports.map(String)]
  const child = cli.start(command)
  onTestFinished(() => stop(child))
  showMessagesOnFailure(child)
  return child
}

/** Shows what a server says if the test fails: it may have refused to start. */
function showMessagesOnFailure({ stderr }: ChildProcessWithoutNullStreams): void {
  let messages = ''
  stderr.setEncoding('utf8').on('data', (chunk) => {
    messages += chunk
  })
  onTestFailed(() => console.error(`the server said: ${messages}`))
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGINT')
  await once(child, 'exit')
}

async function listPorts(cli: Cli, fork: string): Promise<readonly Published[]> {
  const forks: { fork: string; ports: Published[] }[] = JSON.parse(
    (await cli.run(['forks', '--json'])).stdout,
  )
  return forks.find((each) => each.fork === fork)?.ports ?? []
}

/** Waits until a fork has so many open ports. */
async function waitForPorts(cli: Cli, fork: string, count = 1): Promise<readonly Published[]> {
  let ports: readonly Published[] = []
  const listed = async () => {
    ports = await listPorts(cli, fork)
    return ports.length
  }
  await expect.poll(listed, { timeout: PATIENCE_MS }).toBe(count)
  return ports
}

/** Requests a page by a host name that need not resolve. */
function fetchPage(port: number, host: string, path = '/'): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, headers: { host }, agent: false }, resolve).on('error', reject)
  })
}

async function readPage(port: number, host: string): Promise<{ status: number | undefined; body: string }> {
  const response = await fetchPage(port, host)
  return { status: response.statusCode, body: await text(response) }
}

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject).listen(port, '127.0.0.1', () => resolve(server))
  })
}

/** Finds ports that no program has, below those that the kernel gives out by itself. */
async function findFreePorts(count: number): Promise<number[]> {
  const found: number[] = []
  while (found.length < count) {
    const port = 10_000 + Math.floor(Math.random() * 20_000)
    const server = await listen(port).catch(() => undefined)
    if (server === undefined) continue
    server.close()
    await once(server, 'close')
    found.push(port)
  }
  return found
}

describe.skipIf(why !== undefined)('the ports of a fork', () => {
  it('are reachable by its name, the same port in two forks at once, and outlive the first of them', async () => {
    const cli = openProject()
    const [port = 0] = await findFreePorts(1)
    const first = startServer(cli, 'fix-1', [port])
    const [published] = await waitForPorts(cli, 'fix-1')
    expect(published).toMatchObject({ port, url: `http://fix-1.localhost:${port}` })
    startServer(cli, 'fix-2', [port])
    await waitForPorts(cli, 'fix-2')
    for (const fork of ['fix-1', 'fix-2'])
      expect(await readPage(port, `${fork}.localhost:${port}`)).toEqual({
        status: 200,
        body: `${fork} at ${fork}.localhost:${port}`,
      })
    expect(await cli.ok('forks')).toContain(`\n  http://fix-1.localhost:${port} (other protocols: 127.0.0.1:`)

    await stop(first)
    const ask = () => readPage(port, 'FIX-2.localhost').catch(() => undefined)
    await expect.poll(ask, { timeout: PATIENCE_MS }).toMatchObject({ status: 200 })
    expect(await readPage(port, 'fix-1.localhost')).toMatchObject({ status: 404 })
  })

  it('pass on event streams, upgrades, and protocols in which the server speaks first', async () => {
    const cli = openProject()
    const [port = 0, plain = 0] = await findFreePorts(2)
    const child = startServer(cli, 'fix', [port, plain])
    const printed = text(child.stdout)
    const published = await waitForPorts(cli, 'fix', 2)

    const events = await fetchPage(port, 'fix.localhost', '/events')
    const [event] = await once(events.setEncoding('utf8'), 'data')
    expect(event).toBe('data: first\n\n')
    events.destroy()

    const upgrade = request({
      host: '127.0.0.1',
      port,
      headers: { host: 'fix.localhost', connection: 'upgrade', upgrade: 'echo' },
    }).end()
    const [, socket] = await once(upgrade, 'upgrade')
    socket.write('ping')
    expect(String((await once(socket, 'data'))[0])).toBe('ping')
    socket.destroy()

    const address = published.find((each) => each.port === plain)?.address ?? ''
    const client = connect({ host: '127.0.0.1', port: Number(address.split(':')[1]) })
    expect(String((await once(client, 'data'))[0])).toBe('welcome ')
    // Half closed: the server still answers.
    client.end('bye')
    expect(await text(client)).toBe('bye')
    await stop(child)
    expect(await printed).toContain('closed')
  })

  it('are for requests that name the fork', async () => {
    const cli = openProject()
    const [port = 0] = await findFreePorts(1)
    startServer(cli, 'fix', [port])
    const [published] = await waitForPorts(cli, 'fix')
    const plain = Number(published?.address.split(':')[1])
    for (const host of ['evil.example', 'fix.localhost.evil.example', 'other.localhost', '10.0.0.1']) {
      expect(await readPage(port, host)).toEqual({ status: 404, body: `coppice: no fork is at ${host}\n` })
      expect(await readPage(plain, host)).toMatchObject({ status: 403 })
    }
    expect((await readPage(port, 'localhost')).body).toContain(`http://fix.localhost:${port}`)
    for (const host of ['localhost', '127.0.0.1', 'fix.localhost'])
      expect(await readPage(plain, `${host}:${plain}`)).toMatchObject({ status: 200 })
    for (const head of [
      'GET / HTTP/1.1\r\nHost: fix.localhost\r\nHost: evil.example\r\n\r\n',
      'GET / HTTP/1.1\r\n\r\n',
      'not a request\r\n\r\n',
    ]) {
      const client = connect({ host: '127.0.0.1', port })
      client.write(head)
      expect(await text(client)).toMatch(/^HTTP\/1\.1 400 /)
    }
  })

  it.skipIf(!isRoot)('are for programs of the same user', async () => {
    const cli = openProject()
    const [port = 0] = await findFreePorts(1)
    startServer(cli, 'fix', [port])
    const [published] = await waitForPorts(cli, 'fix')
    for (const at of [`127.0.0.1:${port}`, published?.address]) {
      const curl = ['curl', '-sS', '-m', '20', '-H', 'Host: fix.localhost', `http://${at}/`]
      const child = spawn('setpriv', [...BECOME_NOBODY.slice(1), ...curl])
      expect(await text(child.stdout)).toBe('')
    }
  })

  it.skipIf(!isRoot)('work for an ordinary user, with a shell beside the server', async () => {
    const cli = openProject()
    chownSync(cli.scratch, NOBODY, NOBODY)
    chownSync(cli.files, NOBODY, NOBODY)
    const [port = 0] = await findFreePorts(1)
    const run = (...args: string[]) => {
      const program = [process.execPath, join(root, 'bin/coppice.js'), ...args]
      return spawn('setpriv', [...BECOME_NOBODY.slice(1), ...program], {
        cwd: cli.files,
        env: { PATH: process.env['PATH'], HOME: cli.scratch, COPPICE_HOME: cli.home },
      })
    }
    const server = run('exec', '--fork', 'fix', '--', 'node', 'server.cjs', String(port))
    onTestFinished(() => stop(server))
    showMessagesOnFailure(server)
    await waitForPorts(cli, 'fix')
    expect(await readPage(port, 'fix.localhost')).toMatchObject({ status: 200 })
    const beside = run('enter', 'fix', '--', 'curl', '-sS', `http://localhost:${port}/`)
    expect(await text(beside.stdout)).toBe(`fix at localhost:${port}`)
  })

  it('have another number where a program of this machine has the port', async () => {
    const cli = openProject()
    const [port = 0] = await findFreePorts(1)
    const taken = await listen(port)
    onTestFinished(() => void taken.close())
    startServer(cli, 'fix', [port])
    const [published] = await waitForPorts(cli, 'fix')
    const plain = published?.address.split(':')[1]
    expect(published).toMatchObject({ port, url: `http://fix.localhost:${plain}` })
    expect(await readPage(Number(plain), `fix.localhost:${plain}`)).toMatchObject({ status: 200 })
  })

  it('are those that --port names, before anything listens', async () => {
    const cli = openProject()
    const [port = 0, unnamed = 0] = await findFreePorts(2)
    const line = `read line; exec node server.cjs ${port} ${unnamed}`
    const child = cli.start(['exec', '--fork', 'fix', '--port', String(port), '--shell', '--', line])
    onTestFinished(() => stop(child))
    await waitForPorts(cli, 'fix')
    const nothing = `coppice: nothing listens on port ${port} of fix\n`
    expect(await readPage(port, 'fix.localhost')).toEqual({ status: 502, body: nothing })
    child.stdin.end('\n')
    const ask = async () => (await readPage(port, 'fix.localhost')).status
    await expect.poll(ask, { timeout: PATIENCE_MS }).toBe(200)
    expect(await listPorts(cli, 'fix')).toHaveLength(1)
    for (const [args, message] of [
      [['--port', '70000'], "--port takes a number from 1 to 65535, not '70000'"],
      [['--port', '80', '--network'], '--port is for a command with its own network'],
    ] as const)
      expect(await cli.run(['exec', ...args, '--', 'true'])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(message),
      })
  })

  it('are shared by the commands in a fork, which find each other, with hosts of their own', async () => {
    const cli = openProject()
    const [port = 0] = await findFreePorts(1)
    const allow = ['--allow-host', 'a.example']
    startServer(cli, 'fix', [port], allow)
    await waitForPorts(cli, 'fix')
    const line = `curl -sS http://127.0.0.1:${port}/ && echo " $HTTP_PROXY"`
    const joined = await cli.run(['enter', 'fix', ...allow, '--', 'sh', '-c', line])
    expect(joined.stdout).toBe(`fix at 127.0.0.1:${port} http://127.0.0.1:3129\n`)
    // The ports of the two proxies are not published.
    expect(await listPorts(cli, 'fix')).toHaveLength(1)
  })

  it('are not those of this machine that its commands may reach', async () => {
    const cli = openProject()
    const [port = 0, besidePort = 0, allowed = 0, besideAllowed = 0] = await findFreePorts(4)
    startServer(cli, 'fix', [port], ['--allow-host', `localhost:${allowed}`])
    await waitForPorts(cli, 'fix')
    const beside = [
      '--allow-host',
      `localhost:${besideAllowed}`,
      '--',
      'node',
      'server.cjs',
      String(besidePort),
    ]
    const joined = cli.start(['enter', 'fix', ...beside])
    onTestFinished(() => stop(joined))
    const published = await waitForPorts(cli, 'fix', 2)
    expect(published.map((each) => each.port).sort()).toEqual([port, besidePort].sort())
    // A service of this machine can still start there.
    for (const each of [allowed, besideAllowed]) (await listen(each)).close()
  })

  it.skipIf(whyNoTmux() !== undefined)(
    'are shown in a terminal, but not to a full-screen program',
    async () => {
      const cli = openProject()
      const [port = 0] = await findFreePorts(1)
      const coppice = [
        process.execPath,
        join(root, 'bin/coppice.js'),
        'exec',
        '--fork',
        'fix',
        '--',
        'sh',
        '-c',
      ]
      const env = {
        COPPICE_HOME: cli.home,
        HOME: cli.scratch,
        NODE_OPTIONS: '',
        PATH: process.env['PATH'] ?? '',
      }
      const plain = new Tmux([...coppice, `node server.cjs ${port}`], cli.files, env)
      await plain.shows(new RegExp(`^coppice: port ${port} is open at http://fix\\.localhost:${port} `, 'm'))
      plain.keys('C-c')
      await expect.poll(() => listPorts(cli, 'fix'), { timeout: PATIENCE_MS }).toEqual([])

      const drawing = new Tmux([...coppice, `stty -icanon; node server.cjs ${port}`], cli.files, env)
      await waitForPorts(cli, 'fix')
      expect(drawing.screen()).not.toContain('coppice: port')
    },
  )
})
