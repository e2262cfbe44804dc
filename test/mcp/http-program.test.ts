import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Client } from '@modelcontextprotocol/client'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Cli, type CliOptions } from '../cli/run-cli.ts'
import { call, newClient } from './mcp-client.ts'

const TOKEN = 'sixteen-or-more-characters'

interface Listening {
  readonly child: ChildProcess
  readonly url: string
  /** The generated token, if there is one. */
  readonly token: string | undefined
}

async function prepared(): Promise<Cli> {
  const cli = new Cli()
  await cli.ok('vault', 'create', 'base')
  return cli
}

/** Starts the program on any port, until the end of the test. */
async function listening(
  cli: Cli,
  args: readonly string[] = [],
  options: CliOptions = {},
): Promise<Listening> {
  const child = cli.start(['mcp', '--vault', 'base', '--http', '--port', '0', '--json', ...args], options)
  onTestFinished(() => void child.kill('SIGKILL'))
  let printed = ''
  for await (const line of createInterface(child.stdout)) {
    printed += line
    if (line === '}') break
  }
  const { url, token }: { url: string; token?: string } = JSON.parse(printed)
  return { child, url, token }
}

async function connected(url: string, token: string): Promise<Client> {
  const client = newClient()
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  return client
}

describe('coppice mcp --http', () => {
  it('generates a token, and serves several clients that send it', async () => {
    const cli = await prepared()
    const { url, token = '' } = await listening(cli)
    expect(token).toMatch(/^[\w-]{43}$/)
    const [one, two] = await Promise.all([connected(url, token), connected(url, token)])
    const updated: string[] = []
    two.setNotificationHandler(
      'notifications/resources/updated',
      ({ params }) => void updated.push(params.uri),
    )
    const uri = 'vfs:///workspace/a'
    await two.subscribeResource({ uri })
    await call(one, 'write_file', { path: uri, content: 'by the first' })
    expect(await call(two, 'file_read', { path: uri })).toContain('by the first')
    await vi.waitFor(() => expect(updated).toEqual([uri]), { timeout: 10_000 })
    await expect(connected(url, 'another-token-than-that')).rejects.toThrow(/401|token/i)
  })

  it('prints its URL and token on stderr, and nothing on stdout', async () => {
    const cli = await prepared()
    const child = cli.start(['mcp', '--http', '--port', '0'])
    const [listens] = await once(createInterface(child.stderr), 'line')
    expect(listens).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+\/mcp$/)
    const written: unknown[] = []
    child.stdout.on('data', (chunk) => written.push(chunk))
    child.kill('SIGINT')
    expect(await once(child, 'close')).toEqual([0, null])
    expect(written).toEqual([])
  })

  it('takes the token from a file or the environment, and then prints none', async () => {
    const cli = await prepared()
    const file = join(cli.files, 'token')
    writeFileSync(file, `${TOKEN}\n`)
    const servers = [
      await listening(cli, ['--token-file', file]),
      await listening(cli, [], { env: { COPPICE_MCP_TOKEN: TOKEN } }),
    ]
    for (const { url, token } of servers) {
      expect(token).toBeUndefined()
      await expect((await connected(url, TOKEN)).ping()).resolves.toEqual({})
    }
  })

  it('ends on SIGTERM with connected clients', async () => {
    const { child, url, token = '' } = await listening(await prepared())
    await connected(url, token)
    child.kill('SIGTERM')
    expect(await once(child, 'close')).toEqual([0, null])
  })

  it('refuses a weak token, an invalid port and a used port', async () => {
    const cli = await prepared()
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const address = other.address()
    const taken = typeof address === 'object' ? String(address?.port) : ''
    const short = await cli.run(['mcp', '--http'], { env: { COPPICE_MCP_TOKEN: 'short' } })
    expect(short).toMatchObject({ code: 1, stderr: expect.stringContaining('at least 16') })
    expect(await cli.run(['mcp', '--http', '--port', '70000'])).toMatchObject({ code: 2 })
    const run = await cli.run(['mcp', '--http', '--port', taken])
    expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining('choose another with --port') })
  })
})
