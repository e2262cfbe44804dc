import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Cli } from '../cli/run-cli.ts'
import { root } from '../support/run-node.ts'
import { call, environment, PROGRAM, startClient, tryCall } from './mcp-client.ts'

/** Creates a home with a vault that has one file. */
async function prepared(): Promise<Cli> {
  const cli = new Cli()
  await cli.ok('vault', 'create', 'base')
  await cli.ok('write', '/README.md', '--text', '# Base')
  return cli
}

const HELLO = [
  {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'pipe', version: '1' } },
  },
  { method: 'notifications/initialized' },
]

/** Messages as they go through a pipe. */
function piped(...messages: readonly object[]): string {
  return messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('')
}

describe('coppice mcp over stdio', () => {
  it('serves the vault as /workspace, for reading and writing', async () => {
    const cli = await prepared()
    const { client } = await startClient(cli, ['--vault', 'base'])
    expect(await call(client, 'file_read', { path: 'vfs:///workspace/README.md' })).toContain('# Base')
    await call(client, 'write_file', { path: 'vfs:///workspace/new.txt', content: 'from a client' })
    expect(await cli.ok('cat', '/new.txt', '--vault', 'base')).toBe('from a client')
    expect(await cli.ok('log', '-n', '1', '--vault', 'base')).toMatch(
      /tester +write +\/new\.txt \(test-client\/\d+\)/,
    )
  })

  it('serves only zones in a directory that is no project, and creates a missing home', async () => {
    const cli = new Cli()
    const { client } = await startClient(cli, ['--context', 'anna'], { env: { HOME: cli.files } })
    await call(client, 'write_file', { path: 'vfs:///home/anna/note', content: 'mine' })
    const denied = await tryCall(client, 'write_file', { path: 'vfs:///home/bob/note', content: 'his' })
    expect(denied).toMatchObject({ isError: true, text: expect.stringContaining('EACCES') })
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).not.toContain('workspace_diff')
  })

  it('serves files as resources, and reports changes of other processes', async () => {
    const cli = await prepared()
    const { client } = await startClient(cli, ['--vault', 'base'])
    const uri = 'vfs:///workspace/README.md'
    expect((await client.listResources()).resources.map((resource) => resource.uri)).toContain(uri)
    const updated: string[] = []
    client.setNotificationHandler(
      'notifications/resources/updated',
      ({ params }) => void updated.push(params.uri),
    )
    await client.subscribeResource({ uri })
    await cli.ok('write', '/README.md', '--text', '# Changed', '--vault', 'base')
    await vi.waitFor(() => expect(updated).toEqual([uri]), { timeout: 10_000 })
    expect((await client.readResource({ uri })).contents).toMatchObject([{ text: '# Changed\n' }])
  })

  it('offers and calls only the selected tools', async () => {
    const cli = await prepared()
    const { client } = await startClient(cli, ['--vault', 'base', '--tools', 'file_read,vfs_list'])
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['file_read', 'vfs_list'])
    const write = { name: 'write_file', arguments: { path: 'vfs:///workspace/x', content: 'x' } }
    await expect(client.callTool(write)).rejects.toMatchObject({ code: -32602 })
    expect(await cli.ok('ls', '--vault', 'base')).toBe('README.md\n')
  })

  it('changes nothing with --read-only', async () => {
    const cli = await prepared()
    const { client } = await startClient(cli, ['--vault', 'base', '--read-only'])
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('file_read')
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true)
  })

  it('reaches host directories only as far as both sides allow', async () => {
    const cli = await prepared()
    const [app, other] = ['app', 'other'].map((name) => join(cli.files, name))
    for (const directory of [app, other]) {
      mkdirSync(String(directory))
      writeFileSync(join(String(directory), 'file'), 'here')
    }
    const reach = async (args: readonly string[], roots?: string[]) => {
      const { client } = await startClient(
        cli,
        ['--vault', 'base', ...args],
        roots === undefined ? {} : { roots },
      )
      const reads = [app, other].map((directory) =>
        tryCall(client, 'file_read', { path: `${directory}/file` }),
      )
      return (await Promise.all(reads)).map(({ isError }) => !isError)
    }
    expect(await reach([], [String(app)])).toEqual([false, false])
    expect(await reach(['--allow', 'app', '--allow', 'other'])).toEqual([true, true])
    expect(await reach(['--allow', 'app', '--allow', 'other'], [String(other)])).toEqual([false, true])
    expect(await reach(['--allow-roots'], [String(app)])).toEqual([true, false])
  })

  it('serves two clients on one home at once, each in its own fork', async () => {
    const cli = await prepared()
    const clients = await Promise.all(
      ['one', 'two'].map((name) => startClient(cli, ['--vault', 'base', '--fork', name, '--context', name])),
    )
    await Promise.all(
      clients.flatMap(({ client }, index) =>
        Array.from({ length: 20 }, (_, file) =>
          call(client, 'write_file', { path: `vfs:///workspace/${index}/${file}`, content: `${file}` }),
        ),
      ),
    )
    await Promise.all(
      clients.map(({ client }, index) =>
        call(client, 'write_file', { path: `vfs:///shared/${index}`, content: 'told' }),
      ),
    )
    for (const { client } of clients) {
      expect(await call(client, 'vfs_list', { path: 'vfs:///shared' })).toMatch(/^0\b.*\n1\b/)
    }
    expect(await cli.ok('diff', '--vault', 'one')).toMatch(/^(A \/0\/\d+\n){20}$/)
    expect(await cli.ok('diff', '--vault', 'two')).toMatch(/^(A \/1\/\d+\n){20}$/)
    expect(await cli.ok('ls', '--vault', 'base')).toBe('README.md\n')
  })
})

describe('the program behind a client', () => {
  it('answers all requests before the end of its input, then ends, and prints nothing else', async () => {
    const cli = await prepared()
    const list = {
      id: 2,
      method: 'tools/call',
      params: { name: 'vfs_list', arguments: { path: 'vfs:///workspace' } },
    }
    const run = await cli.run(['mcp', '--vault', 'base'], { input: piped(...HELLO, list) })
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const lines = run.stdout.trimEnd().split('\n')
    const messages: { id: number; result?: object }[] = lines.map((line) => JSON.parse(line))
    expect(messages.map(({ id }) => id)).toEqual([1, 2])
    expect(JSON.stringify(messages[1]?.result)).toContain('README.md')
  })

  it('survives an invalid line', async () => {
    const cli = await prepared()
    const ping = piped({ id: 9, method: 'ping' })
    const run = await cli.run(['mcp'], { input: `${piped(...HELLO)}this is no JSON\n{"half": 1}\n${ping}` })
    expect(run.code).toBe(0)
    expect(run.stdout).toContain('"id":9')
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('cleans up and ends on %s', async (signal) => {
    const cli = await prepared()
    const child = cli.start(['mcp', '--vault', 'base'])
    child.stdin.write(piped(...HELLO))
    await once(createInterface(child.stdout), 'line')
    child.kill(signal)
    const [code] = await once(child, 'close')
    expect(code).toBe(0)
    expect(await cli.ok('ls', '--vault', 'base')).toBe('README.md\n')
  })

  it('ends when its client is killed, and keeps acknowledged changes', async () => {
    const cli = await prepared()
    const script = join(root, 'test/mcp/client-process.ts')
    const client = spawn(process.execPath, [script, ...PROGRAM, 'mcp', '--vault', 'base'], {
      env: { ...environment(cli), NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void client.kill('SIGKILL'))
    const [line] = await once(createInterface(client.stdout), 'line')
    const pid = Number(line)
    expect(isAlive(pid)).toBe(true)
    client.kill('SIGKILL')
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 10_000 })
    expect(await cli.ok('cat', '/written', '--vault', 'base')).toBe('before the end')
    await cli.ok('fsck')
  })

  it('ends when its client stops reading, although it keeps sending', async () => {
    const cli = await prepared()
    const child = cli.start(['mcp', '--vault', 'base'])
    child.stdin.on('error', () => {})
    child.stdin.write(piped(...HELLO))
    await once(createInterface(child.stdout), 'line')
    child.stdout.destroy()
    child.stdin.write(piped({ id: 2, method: 'ping' }))
    const [code] = await once(child, 'exit')
    expect(code).toBe(0)
  })

  it('accepts no change once its home is deleted, and says why', async () => {
    const cli = await prepared()
    const { client } = await startClient(cli, ['--vault', 'base'])
    const write = (path: string) => tryCall(client, 'write_file', { path, content: 'x' })
    expect(await write('vfs:///workspace/kept')).toMatchObject({ isError: false })
    rmSync(cli.home, { recursive: true })
    for (const path of ['vfs:///workspace/lost', 'vfs:///shared/lost']) {
      const lost = { isError: true, text: expect.stringMatching(/EIO.*store was removed/) }
      expect(await write(path)).toMatchObject(lost)
    }
  })

  it('reports invalid options on stderr', async () => {
    const cli = await prepared()
    const wrong = async (...args: string[]) => {
      const { code, stdout, stderr } = await cli.run(['mcp', ...args])
      expect(stdout).toBe('')
      return `${code} ${stderr}`
    }
    expect(await wrong('--vault', 'none')).toMatch(/^1 .*there is no vault 'none'/)
    expect(await wrong('--tools', 'no_such')).toMatch(/^1 .*no_such.*file_read/)
    expect(await wrong('--allow', 'missing')).toMatch(/^1 .*missing/)
    expect(await wrong('--context', 'system')).toMatch(/^1 .*system/)
    expect(await wrong('--port', '80')).toMatch(/^2 .*--http/)
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
