import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type AgentKernel, openKernel } from '../../src/agent-kernel/index.ts'
import { readText } from '../../src/vfs/index.ts'
import { call, openScene, type Scene, script } from '../support/agent-home.ts'

const env = {
  SERVICE_TOKEN: 'hush-hush-hush',
  DEPLOY_KEY: 'first "line" of the key\nsecond line of the key',
  DATABASE: 'postgres://app:top-secret-word@db/shop',
}
const headers = { Authorization: 'Bearer quiet-quiet-quiet' }
/** Parts that occur only in the secrets. */
const traces = ['hush-hush', 'of the key', 'top-secret', 'quiet-quiet']
const said = [...Object.values(env), headers.Authorization].join(' and ')

/** A server that reveals its environment in results and errors, and does not start without it. */
const talkative = `
const all = JSON.stringify(process.env)
if (process.env.SERVICE_TOKEN === undefined || process.argv.includes('--fail')) {
  console.error(all)
  process.exit(1)
}
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const send = (result) => say({ id, result })
  if (method === 'initialize') send({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'talkative', version: '1' } })
  if (method === 'tools/list') send({ tools: ['show', 'refuse'].map((name) => ({ name, description: all, inputSchema: { type: 'object' } })) })
  if (method === 'tools/call' && params.name === 'show') send({ content: [{ type: 'text', text: all }] })
  if (method === 'tools/call' && params.name === 'refuse') say({ id, error: { code: -32603, message: all } })
})
`

function keepAgent(directory: string, name: string, server: object): void {
  const place = join(directory, 'agents', name)
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'instructions.md'), 'Help.\n')
  const config = { connect_timeout_ms: 60_000, ...server }
  writeFileSync(join(place, 'agent.yaml'), `mcp: ${JSON.stringify({ docs: config })}\n`)
}

function keepAgents(directory: string, url: string): void {
  const server = { command: process.execPath, args: ['-e', talkative, '--'], env }
  keepAgent(directory, 'helper', server)
  keepAgent(directory, 'mute', { ...server, args: ['-e', talkative, '--', '--fail'] })
  keepAgent(directory, 'remote', { url: `${url}?access_token=quiet-quiet-quiet`, headers })
}

/** Starts a server that refuses every request and repeats its headers. */
async function refusing(): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(401).end(JSON.stringify([request.url, request.headers]))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}/mcp`
}

/** Lists everything below a directory of the home, except files of the person. */
function filesOf(directory: string): [string, string][] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => !/\/(?:agents|scripts)\//.test(file))
    .map((file) => [file, readFileSync(file, 'latin1')])
}

/** Returns everything that can be read about a process. */
async function shownOf(agents: AgentKernel, pid: number): Promise<[string, string][]> {
  const { signal } = new AbortController()
  const trace = await Array.fromAsync(agents.trace(pid, false, signal))
  const logs = await Array.fromAsync(agents.logs(pid, false, signal))
  const steps = await agents.steps(pid)
  return Object.entries({ trace, logs, steps, ps: agents.ps(true) }).map(([what, shown]) => [
    `${what} ${pid}`,
    JSON.stringify(shown),
  ])
}

/** Returns what `/proc` shows of a process while it waits. */
function watchedProc({ agents }: Scene): [string, string][] {
  const seen: [string, string][] = []
  const detach = agents.tty.attach({
    onAsked: async ({ id, pid }) => {
      for (const file of ['status', 'intent', 'context', 'fds', 'log', 'debug', 'steps']) {
        const path = `/proc/${pid}/${file}`
        seen.push([path, await readText(agents.person.fs, path, {}, agents.asPerson)])
      }
      agents.tty.answer(id, ['go on'])
    },
  })
  onTestFinished(detach)
  return seen
}

function leaksOf(shown: readonly (readonly [string, string])[]): string[] {
  return shown.flatMap(([where, text]) =>
    traces.filter((part) => text.includes(part)).map((part) => `${where}: ${part}`),
  )
}

const question = call('/dev/tty', { questions: [{ question: 'And?', options: [], multi_select: false }] })

it('no secret of a server leaks from the process that has it mounted', async () => {
  const scene = await openScene()
  const { directory, agents, home } = scene
  keepAgents(directory, await refusing())
  const proc = watchedProc(scene)
  const play = script(
    call('mcp__1-docs__show', {}),
    call('mcp__1-docs__refuse', {}),
    call('/mnt/mcp/1-docs/tools'),
    { action: 'spawn', intent: 'a child that cannot begin', agent: 'mute' },
    { action: 'spawn', intent: 'another', agent: 'remote' },
    // A careless person who repeats the secret.
    call('/dev/null', said),
    call('/dev/shell', `echo ${JSON.stringify(said)}`),
    question,
    { action: 'complete', result: said },
  )
  const { pid } = await agents.spawn({ intent: `use ${said}`, agent: 'helper', vault: 'base', script: play })
  expect(await agents.wait(pid)).toMatchObject({ exit_code: 0, step: 9 })
  const steps = await agents.steps(pid)
  expect(steps.map(({ tool_result, tool_error }) => tool_result || tool_error)).toEqual([
    expect.stringContaining('[redacted]'),
    expect.stringMatching(/^EIO.*the server refused.*\[redacted\]/),
    expect.stringContaining('[redacted]'),
    expect.stringMatching(/^EUNAVAILABLE.*it said:.*\[redacted\]/),
    expect.stringMatching(/^EUNAVAILABLE.*\[redacted\]/),
    '',
    expect.any(String),
    expect.stringContaining('go on'),
    '',
  ])
  expect(proc.map(([path]) => path)).toHaveLength(7)
  const shown = [...(await shownOf(agents, pid)), ...proc, ...filesOf(join(directory, 'data', 'steps'))]
  const boundary = await home.vault('boundary')
  for await (const { name } of boundary.readdir('/journal'))
    shown.push([name, await readText(boundary, `/journal/${name}`)])
  expect(shown.at(-1)).toEqual([expect.stringMatching(/jsonl$/), expect.stringContaining('[redacted]')])
  expect(leaksOf(shown)).toEqual([])
  expect(leaksOf(filesOf(directory).filter(([file]) => /\.(?:jsonl|log)$/.test(file)))).toEqual([])
})

it('no secret leaks to the person who reviews servers, or when one cannot be started', async () => {
  const { directory, agents } = await openScene()
  keepAgents(directory, await refusing())
  const { signal } = new AbortController()
  const failed = async (work: Promise<unknown>) => String(await work.catch((error: Error) => error.stack))
  const docs = (agent: string) => ({ agent, server: 'docs' })
  const shown: [string, string][] = [
    ['list', JSON.stringify(await agents.mcp.list())],
    ['inspect', JSON.stringify(await agents.mcp.inspect(docs('helper'), signal))],
    ['inspect mute', await failed(agents.mcp.inspect(docs('mute'), signal))],
    ['inspect remote', await failed(agents.mcp.inspect(docs('remote'), signal))],
    ['spawn mute', await failed(agents.spawn({ intent: 'x', agent: 'mute', script: script('x') }))],
    ['spawn remote', await failed(agents.spawn({ intent: 'x', agent: 'remote', script: script('x') }))],
  ]
  expect(leaksOf(shown)).toEqual([])
  expect(shown.filter(([, text]) => !text.includes('[redacted]'))).toEqual([])
})

it('secrets are known from the start, whatever process receives them', async () => {
  const { directory, home, agents: first } = await openScene()
  keepAgents(directory, await refusing())
  await first.close()
  const agents = await openKernel({ home, env: {}, commands: { env: {} }, person: 'tester' })
  onTestFinished(() => agents.close())
  const { pid } = await agents.spawn({
    intent: `try ${said}`,
    script: script(call('/dev/null', said), 'over'),
  })
  await agents.wait(pid)
  const shown = await shownOf(agents, pid)
  expect(leaksOf(shown)).toEqual([])
  expect(shown.filter(([, text]) => !text.includes('[redacted]'))).toEqual([])
})
