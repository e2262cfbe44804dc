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

/** Connects a client to a program that serves a vault over stdio. */
async function overStdio(person: Person): Promise<Client> {
  const cli = new Cli()
  await cli.ok('vault', 'create', 'base')
  return (await startClient(cli, ['--vault', 'base'], person)).client
}

/** Connects a client to a server that serves a vault over HTTP. */
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

  it('asks the person before a command reaches the network', async () => {
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
    expect(text).toMatch(/EACCES.*a person denied it; do not ask for the same again/)
    expect(text).not.toContain('coppice approve')
  })

  it.each([
    ['dismissed', { action: 'cancel' }],
    ['sent without its field', { action: 'accept' }],
    ['sent with another value', { action: 'accept', content: { allow: 'yes' } }],
  ] as const)('leaves the question open if its form is %s', async (_what, answer) => {
    const turning = await connect({ answer: () => ({ ...answer }) })
    const { text } = await tryCall(turning, 'shell_exec', gated)
    expect(text).toMatch(/EACCES.*dismissed the question without an answer.*coppice approve [0-9a-f]{12}/)
    expect(text).not.toContain('denied it')
  })

  it('does not run an unanswered command, and says so', async () => {
    const failing = await connect({ answer: () => Promise.reject(new Error('no window')) })
    const unanswered = await tryCall(failing, 'shell_exec', gated)
    expect(unanswered.text).toMatch(/EACCES.*nobody answered.*coppice approve [0-9a-f]{12}/)
    expect(unanswered.text).not.toContain('denied it')
  })

  it('does not ask a question that is too long to show in full, and explains how to approve', async () => {
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
    expect(text).toMatch(/EACCES.*too long to show in full.*coppice approve [0-9a-f]{12}/)
    expect(questions).toEqual([])
  })

  it('refuses without a person to ask, and explains how to approve', async () => {
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
