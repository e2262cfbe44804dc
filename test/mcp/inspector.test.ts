import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { Cli } from '../cli/run-cli.ts'
import { environment, PROGRAM } from './mcp-client.ts'

const require = createRequire(import.meta.url)
const INSPECTOR = require.resolve('@modelcontextprotocol/inspector/cli/build/cli.js')

/** What the official inspector prints about our program. */
async function inspected(cli: Cli, ...args: string[]): Promise<unknown> {
  const child = spawn(process.execPath, [INSPECTOR, '--cli', ...PROGRAM, 'mcp', '--vault', 'base', ...args], {
    cwd: cli.files,
    env: environment(cli),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  return JSON.parse(output)
}

describe('the MCP inspector', () => {
  it('lists our tools and calls one', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    await cli.ok('write', '/README.md', '--text', '# Base')
    const names = ['file_edit', 'file_grep', 'file_read', 'vfs_list', 'workspace_merge', 'write_file']
    const { tools }: { tools?: { name: string }[] } = Object(await inspected(cli, '--method', 'tools/list'))
    expect(tools?.map(({ name }) => name)).toEqual(expect.arrayContaining(names))
    const call = ['--method', 'tools/call', '--tool-name', 'file_read']
    const answer = await inspected(cli, ...call, '--tool-arg', 'path=vfs:///workspace/README.md')
    expect(answer).toMatchObject({ content: [{ type: 'text', text: expect.stringContaining('# Base') }] })
  })
})
