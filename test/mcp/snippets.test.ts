import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { parse } from 'smol-toml'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { Cli } from '../cli/run-cli.ts'
import { root } from '../support/run-node.ts'
import { call, newClient, PROGRAM, startClient } from './mcp-client.ts'

/** An entry of a client's configuration. */
interface Entry {
  readonly command?: string
  readonly args?: readonly string[]
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
}

interface ClientConfiguration {
  readonly mcpServers?: Readonly<Record<string, Entry>>
  readonly servers?: Readonly<Record<string, Entry>>
}

const codexSchema = z.object({
  mcp_servers: z.object({ coppice: z.object({ command: z.string(), args: z.array(z.string()) }) }),
})

const pages = ['README.md', 'docs/guide/mcp.md'].map((page) => ({
  page,
  text: readFileSync(join(root, page), 'utf8'),
}))

/** Every configuration the documentation shows. */
const configurations = pages.flatMap(({ page, text }) =>
  [...text.matchAll(/^```json\n(.*?)^```/gms)].map(([, block = '']) => {
    const configuration: ClientConfiguration = JSON.parse(block)
    const kind = configuration.servers === undefined ? 'mcpServers' : 'servers'
    return { page, kind, entry: configuration[kind]?.['coppice'] ?? {} }
  }),
)

/** Every configuration of Codex that the documentation shows. */
const codexConfigurations = pages.flatMap(({ page, text }) =>
  [...text.matchAll(/^```toml\n(\[mcp_servers\..*?)^```/gms)].map(([, block = '']) => {
    const { mcp_servers: servers } = codexSchema.parse(parse(block))
    return { page, entry: servers.coppice }
  }),
)

const commandLines = pages.flatMap(({ page, text }) =>
  [...text.matchAll(/^claude mcp add coppice -- (.+)$/gm)].map(([, words = '']) => ({
    page,
    words: words.split(' '),
  })),
)

async function prepared(): Promise<Cli> {
  const cli = new Cli()
  await cli.ok('vault', 'create', 'base')
  await cli.ok('write', '/README.md', '--text', '# Base')
  return cli
}

/** Starts exactly these words, with the package that npx would fetch being this one, and calls a tool. */
async function works(words: readonly string[]): Promise<void> {
  expect(words.slice(0, 4)).toEqual(['npx', '-y', 'coppice', 'mcp'])
  const cli = new Cli()
  writeFileSync(join(cli.files, 'README.md'), '# Base\n')
  const { client } = await startClient(cli, words.slice(3), { command: PROGRAM })
  expect(await call(client, 'file_read', { path: 'vfs:///workspace/README.md' })).toContain('# Base')
  await call(client, 'write_file', { path: 'vfs:///workspace/new', content: 'x' })
  expect(await cli.ok('diff', '--stat')).toContain('A /new')
}

describe('the documentation', () => {
  const stdio = configurations.filter(({ entry }) => entry.command !== undefined)
  const http = configurations.filter(({ entry }) => entry.url !== undefined)

  it('shows a configuration for each client', () => {
    expect(commandLines.map(({ page }) => page)).toEqual(['README.md', 'docs/guide/mcp.md'])
    const shown = stdio.map(({ page, kind }) => `${page} ${kind}`)
    expect(shown).toEqual([
      'README.md mcpServers',
      'README.md servers',
      'docs/guide/mcp.md mcpServers',
      'docs/guide/mcp.md servers',
    ])
    expect(codexConfigurations.map(({ page }) => page)).toEqual(['docs/guide/mcp.md'])
    expect(http).toHaveLength(1)
  })

  it.each(commandLines)('has a command for Claude Code in $page that works', ({ words }) => works(words))

  it.each(stdio)(
    'has a configuration under $kind in $page that works',
    ({ entry: { command = '', args = [] } }) => works([command, ...args]),
  )

  it.each(codexConfigurations)(
    'has a configuration for Codex in $page that works',
    ({ entry: { command, args } }) => works([command, ...args]),
  )

  it('has a command in place of npx for a checkout that works', async () => {
    const [, node, program] =
      /put `\/path\/to\/coppice(\S+)` and `\/path\/to\/coppice(\S+)` in place of `npx`/.exec(
        pages[0]?.text ?? '',
      ) ?? []
    const cli = await prepared()
    const command = [node, program].map((path) => join(root, String(path)))
    const { client } = await startClient(cli, ['mcp', '--vault', 'base'], { command })
    expect(await call(client, 'vfs_list', { path: 'vfs:///workspace' })).toContain('README.md')
  })

  it.each(http)('has a configuration for HTTP that works, at the default port', async ({ entry }) => {
    const token = 'a-token-for-this-test'
    const cli = await prepared()
    const child = cli.start(['mcp', '--vault', 'base', '--http', '--port', '0'], {
      env: { COPPICE_MCP_TOKEN: token },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = await once(createInterface(child.stderr), 'line')
    const { pathname, port } = new URL(entry.url ?? '')
    expect(await cli.ok('mcp', '--help')).toContain(`The port for HTTP (${port})`)
    const url = new URL(pathname, String(line).replace('listening on ', ''))
    const headers = Object.fromEntries(
      Object.entries(entry.headers ?? {}).map(([name, value]) => [
        name,
        value.replace(/\$\{COPPICE_MCP_TOKEN\}/, token),
      ]),
    )
    const client = newClient()
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
    onTestFinished(() => client.close())
    expect(await call(client, 'vfs_list', { path: 'vfs:///workspace' })).toContain('README.md')
  })
})
