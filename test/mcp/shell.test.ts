import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { createMcpServer, serveHttp } from '../../src/mcp/index.ts'
import { openNamespace } from '../../src/namespace/index.ts'
import { Cli } from '../cli/run-cli.ts'
import { call, newClient, type Person, startClient, tryCall } from './mcp-client.ts'

const TOKEN = 'a-token-of-this-test'

/** A client of a program that serves a vault over stdio. */
async function overStdio(person: Person): Promise<Client> {
  const cli = new Cli()
  await cli.ok('vault', 'create', 'base')
  return (await startClient(cli, ['--vault', 'base'], person)).client
}

/** A client of a server that serves a vault over HTTP. */
async function overHttp(person: Person): Promise<Client> {
  const path = mkdtempSync(join(tmpdir(), 'coppice-shell-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  const home = await openHome({ path })
  await home.createVault('base')
  await home.close()
  const commands = { env: { PATH: process.env['PATH'] ?? '' } }
  const namespace = await openNamespace({ home: path, context: 'tester', vault: 'base', commands })
  onTestFinished(() => namespace.close())
  const server = createMcpServer(namespace, { version: '1' })
  const listening = await serveHttp(() => server.open(), { port: 0, token: TOKEN })
  onTestFinished(() => listening.close())
  const client = newClient(person)
  const headers = { authorization: `Bearer ${TOKEN}` }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(listening.url), { requestInit: { headers } }),
  )
  onTestFinished(() => client.close())
  return client
}

const gated = { command: 'curl -s --version > /dev/null; echo ran' }

describe.each([
  ['stdio', overStdio],
  ['HTTP', overHttp],
])('shell_exec over %s', (_name, connect) => {
  it('runs a command, whose changes are in the workspace', async () => {
    const client = await connect({})
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === 'shell_exec')?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
      openWorldHint: true,
    })
    expect(await call(client, 'shell_exec', { command: 'echo made > file' })).toContain(
      'added\t/workspace/file',
    )
    expect(await call(client, 'file_head', { path: 'vfs:///workspace/file' })).toBe('made')
  })

  it('has the person at the client asked before a command reaches the network', async () => {
    const questions: string[] = []
    const client = await connect({
      answer: (question) => {
        questions.push(question)
        return { action: 'accept', content: { allow: true } }
      },
    })
    expect(await call(client, 'shell_exec', gated)).toContain('--- stdout\nran')
    expect(questions).toEqual([expect.stringContaining(gated.command)])
  })

  it.each([
    ['declines', { action: 'decline' }],
    ['accepts and ticks nothing', { action: 'accept', content: { allow: false } }],
  ] as const)('does not run what a person %s, and says that it was a no', async (_what, answer) => {
    const client = await connect({ answer: () => ({ ...answer }) })
    const { isError, text } = await tryCall(client, 'shell_exec', gated)
    expect(isError).toBe(true)
    expect(text).toMatch(/EACCES.*said no, so asking for the same again is of no use/)
    expect(text).not.toContain('coppice approve')
  })

  it('does not run what a person turns away from, or a client cannot ask, and says which', async () => {
    const turning = await connect({ answer: () => ({ action: 'cancel' }) })
    const dismissed = await tryCall(turning, 'shell_exec', gated)
    expect(dismissed.text).toMatch(/EACCES.*turned away without an answer.*coppice approve [0-9a-f]{12}/)
    const failing = await connect({ answer: () => Promise.reject(new Error('no window')) })
    const unanswered = await tryCall(failing, 'shell_exec', gated)
    expect(unanswered.text).toMatch(/EACCES.*nobody answered.*coppice approve [0-9a-f]{12}/)
    for (const { text } of [dismissed, unanswered]) expect(text).not.toContain('said no')
  })

  it('asks nothing that is too long to be shown whole, and says how to approve it', async () => {
    const questions: string[] = []
    const client = await connect({
      answer: (question) => {
        questions.push(question)
        return { action: 'accept', content: { allow: true } }
      },
    })
    const { text } = await tryCall(client, 'shell_exec', {
      command: `${'echo looks harmless; '.repeat(300)}${gated.command}`,
    })
    expect(text).toMatch(/EACCES.*too long for a question.*coppice approve [0-9a-f]{12}/)
    expect(questions).toEqual([])
  })

  it('refuses it where nobody can be asked, and says how to allow it', async () => {
    const { isError, text } = await tryCall(await connect({}), 'shell_exec', gated)
    expect({ isError, text }).toMatchObject({
      isError: true,
      text: expect.stringMatching(/coppice approve [0-9a-f]{12}/),
    })
  })
})

it('coppice mcp --no-exec offers no commands', async () => {
  const cli = new Cli()
  await cli.ok('vault', 'create', 'base')
  const { client } = await startClient(cli, ['--vault', 'base', '--no-exec'])
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toContain('workspace_diff')
  expect(tools.map(({ name }) => name)).not.toContain('shell_exec')
})
