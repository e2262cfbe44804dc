import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type DeviceContext,
  DeviceRegistry,
  O_RDONLY,
  O_RDWR,
  readAllText,
  sendDeviceRequest,
} from '../../kernel/index.ts'
import { MemoryFs } from '../../vfs/index.ts'
import { McpMounts, type Pin } from './index.ts'

const PATH = '/mnt/mcp/7-test'
const secrets = {
  SERVICE_TOKEN: 'hush-hush-hush',
  DEPLOY_KEY: 'first "line" of the key\nsecond line of the key',
  ACCESS_PASS: '1234567890',
}
/** Parts that occur only in the secrets. */
const traces = ['hush-hush', 'of the key', '1234567890']

/** A server that reveals its environment in every response. */
const talkative = `
const env = { ...process.env }
const all = Object.values(env).join(' and ')
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const send = (result) => say({ id, result })
  if (method === 'initialize') send({ protocolVersion: params.protocolVersion, capabilities: { tools: {}, resources: {} }, serverInfo: { name: 'talkative', version: all } })
  if (method === 'tools/list') send({ tools: ['env', 'refuse'].map((name) => ({ name, description: all, inputSchema: { type: 'object', properties: { [all]: {} } } })) })
  if (method === 'resources/list') send({ resources: [{ uri: 'env://all', name: all }] })
  if (method === 'resources/read' && params.uri === 'env://all') send({ contents: [{ uri: 'env://all', text: all }] })
  if (method === 'resources/read' && params.uri !== 'env://all') say({ id, error: { code: -32603, message: all } })
  if (method !== 'tools/call') return
  if (params.name === 'env') send({ content: [{ type: 'text', text: JSON.stringify(env) }], structuredContent: { [env.SERVICE_TOKEN]: Number(env.ACCESS_PASS), all } })
  if (params.name === 'refuse') say({ id, error: { code: -32603, message: 'no: ' + all, data: env } })
})
`

function surroundings() {
  const devices = new DeviceRegistry()
  const pins = new Map<string, Pin>()
  const learnt: string[] = []
  const mounts = new McpMounts(devices, {
    pins: { get: async (name) => pins.get(name), set: async (name, pin) => void pins.set(name, pin) },
    connectTimeoutMs: 60_000,
    redactor: { addSecrets: (values) => void learnt.push(...values) },
  })
  onTestFinished(() => mounts.unmountAll())
  const ctx: DeviceContext = {
    pid: 7,
    caller: { kind: 'process', pid: 7, context: 'coder' },
    fs: new MemoryFs(),
    signal: new AbortController().signal,
  }
  const read = async (path: string) => readAllText(await devices.open(`${PATH}${path}`, O_RDONLY, ctx))
  const call = async (tool: string) =>
    sendDeviceRequest(await devices.open(`${PATH}/tools/${tool}`, O_RDWR, ctx), {})
  return { devices, mounts, pins, learnt, read, call }
}

/** Returns the text of an error and of its causes. */
async function failureOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error('it did not fail'),
    (failure: unknown) => failure,
  )
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? JSON.stringify([error.cause.message, error.cause]) : ''
  return [error.message, error.stack, JSON.stringify(error), cause].join('\n')
}

function leaksOf(text: string): string[] {
  return traces.filter((trace) => text.includes(trace))
}

describe('the environment of a server', () => {
  const config = {
    command: process.execPath,
    args: ['-e', talkative],
    env: { ...secrets, REGION: 'eu-west-1' },
  }

  it('is redacted from descriptions, tools and resources of the server', async () => {
    const { devices, mounts, pins, read, call } = surroundings()
    await mounts.mount(PATH, config)
    const reads = {
      tools: await read('/tools'),
      offered: JSON.stringify(devices.listTools(null)),
      pins: JSON.stringify([...pins.values()]),
      review: JSON.stringify(await mounts.inspect('/mnt/mcp/8-other', config)),
      resources: await read('/resources'),
      resource: await read('/resources/env%3A%2F%2Fall'),
      result: await call('env'),
    }
    for (const text of Object.values(reads)) {
      expect(leaksOf(text)).toEqual([])
      expect(text).toContain('[redacted]')
    }
    expect(reads.result).toContain('eu-west-1')
    expect(JSON.parse(reads.result).structuredContent).toMatchObject({ '[redacted]': '[redacted]' })
  })

  it('is redacted from errors of the server', async () => {
    const { mounts, read, call } = surroundings()
    await mounts.mount(PATH, config)
    for (const failure of [
      await failureOf(call('refuse')),
      await failureOf(read('/resources/no%3A%2F%2Fne')),
    ]) {
      expect(failure).toMatch(/EIO.*the server refused/)
      expect(failure).toContain('[redacted]')
      expect(leaksOf(failure)).toEqual([])
    }
  })

  it('is redacted from the standard error of a server that cannot be started, wherever it is cut', async () => {
    const { mounts } = surroundings()
    for (const rest of [10, 1985, 1990, 1995, 1999]) {
      // Two thousand characters are kept: they contain all of the secret, or only its end.
      const program = `process.stderr.write(process.env.SERVICE_TOKEN + '.'.repeat(${rest})); process.exitCode = 1`
      const failure = await failureOf(mounts.mount(PATH, { ...config, args: ['-e', program] }))
      expect(failure).toMatch(/EUNAVAILABLE.*it said: (?:\[redacted\]|ush|sh|h)?\.{10,}/)
      expect(leaksOf(failure)).toEqual([])
    }
  })

  it('is redacted even if the configuration is invalid', async () => {
    const { mounts, learnt } = surroundings()
    const wrong = [
      { command: 'x', env: { SERVICE_TOKEN: 1234567890 } },
      { command: 'x', env: 'SERVICE_TOKEN=hush-hush-hush' },
      { command: 'x', env: { SERVICE_TOKEN: 'hush-hush-hush\0' } },
      { url: 'ftp://anna:hush-hush-hush@x.example' },
    ]
    for (const config of wrong) {
      const failure = await failureOf(mounts.mount(PATH, config))
      expect(failure).toContain('EINVAL')
      expect(leaksOf(failure)).toEqual([])
    }
    expect(learnt).toEqual(expect.arrayContaining(['1234567890', 'hush-hush-hush']))
  })

  it('is registered with the redactor before the server is contacted', async () => {
    const { mounts, learnt } = surroundings()
    await failureOf(mounts.mount(PATH, { ...config, command: '/no/such/program' }))
    expect(learnt).toEqual(expect.arrayContaining(Object.values(secrets)))
  })
})

describe('the headers for a server', () => {
  const headers = { Authorization: 'Bearer hush-hush-hush', 'X-Deploy': '1234567890' }

  async function served(
    answer: (request: IncomingMessage, response: ServerResponse) => void,
  ): Promise<string> {
    const server = createServer(answer)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    return `http://127.0.0.1:${port}/mcp`
  }

  it.each([400, 401, 403, 404, 500])(
    'are redacted from a response with status %i that repeats them',
    async (status) => {
      const { mounts } = surroundings()
      const url = await served((request, response) => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(
          JSON.stringify({ error: request.headers, token: request.headers.authorization?.slice(7) }),
        )
      })
      const failure = await failureOf(mounts.mount(PATH, { url, headers }))
      expect(failure).toContain('EUNAVAILABLE')
      expect(leaksOf(failure)).toEqual([])
    },
  )

  it('are redacted from the error about an invalid header', async () => {
    const { mounts } = surroundings()
    const url = await served((_request, response) => response.end())
    const broken = { Authorization: 'Bearer hush-hush-hush\nX-Other: of the key' }
    const failure = await failureOf(mounts.mount(PATH, { url, headers: broken }))
    expect(failure).toMatch(/EUNAVAILABLE.*\[redacted\]/)
    expect(leaksOf(failure)).toEqual([])
  })

  it('are redacted from its address, however short the password', async () => {
    const { mounts } = surroundings()
    const failure = await failureOf(mounts.mount(PATH, { url: 'HTTP://anna:1234@127.0.0.1:80/mcp' }))
    expect(failure).toMatch(/EUNAVAILABLE.*\[redacted\]/)
    expect(failure).not.toContain('1234')
  })

  it('are redacted from the result and the error of a tool', async () => {
    const { mounts, call } = surroundings()
    const url = await served(async (request, response) => {
      const body = Buffer.concat(await Array.fromAsync(request)).toString()
      const sent = JSON.stringify(request.headers)
      const answer = body === '' ? undefined : answerOf(JSON.parse(body), sent)
      const status = body.includes('"fail"') ? 500 : answer === undefined ? 202 : 200
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer))
    })
    await mounts.mount(PATH, { url, headers })
    const result = await call('show')
    expect(result).toContain('[redacted]')
    expect(leaksOf(result)).toEqual([])
    const refusals = [await failureOf(call('refuse')), await failureOf(call('fail'))]
    expect(refusals).toEqual([
      expect.stringMatching(/EIO.*the server refused.*\[redacted\]/),
      expect.stringMatching(/EUNAVAILABLE.*the server has ended.*\[redacted\]/),
    ])
    expect(refusals.flatMap(leaksOf)).toEqual([])
  })
})

interface Asked {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly name?: string; readonly protocolVersion?: string }
}

function answerOf({ id, method, params }: Asked, text: string): object | undefined {
  if (id === undefined) return undefined
  const result = (result: object) => ({ jsonrpc: '2.0', id, result })
  const inputSchema = { type: 'object' }
  if (method === 'initialize') {
    const { protocolVersion } = params ?? {}
    return result({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } })
  }
  if (method === 'tools/list') {
    return result({ tools: ['show', 'refuse', 'fail'].map((name) => ({ name, inputSchema })) })
  }
  if (params?.name === 'refuse') return { jsonrpc: '2.0', id, error: { code: -32603, message: text } }
  return result({ content: [{ type: 'text', text }] })
}
