import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
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

const MIB = 1024 ** 2
const PATH = '/mnt/mcp/7-hostile'

interface Asked {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly protocolVersion?: string; readonly name?: string; readonly cursor?: string }
}

type Answer = (asked: Asked, response: ServerResponse) => object | undefined

/** Mounts an HTTP server that starts correctly and then answers with `answer`. */
async function mounted(answer: Answer, timeoutMs = 3000) {
  const server = createServer(async (message, response) => {
    const body = Buffer.concat(await Array.fromAsync(message)).toString()
    const asked: Asked = body === '' ? { method: '' } : JSON.parse(body)
    if (asked.id === undefined) return void response.writeHead(body === '' ? 405 : 202).end()
    const result =
      asked.method === 'initialize'
        ? {
            protocolVersion: asked.params?.protocolVersion,
            capabilities: { tools: {}, resources: {} },
            serverInfo: { name: 'hostile', version: '1' },
          }
        : answer(asked, response)
    if (result === undefined) return
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, result }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const devices = new DeviceRegistry()
  const pins = new Map<string, Pin>()
  const mounts = new McpMounts(devices, {
    pins: { get: async (name) => pins.get(name), set: async (name, pin) => void pins.set(name, pin) },
    connectTimeoutMs: 60_000,
  })
  onTestFinished(async () => {
    await mounts.unmountAll()
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const ctx: DeviceContext = {
    pid: 7,
    caller: { kind: 'process', pid: 7, context: 'coder' },
    fs: new MemoryFs(),
    signal: new AbortController().signal,
  }
  return {
    mount: () => mounts.mount(PATH, { url: `http://127.0.0.1:${port}/mcp`, timeout_ms: timeoutMs }),
    read: async (path: string) => readAllText(await devices.open(`${PATH}${path}`, O_RDONLY, ctx)),
    call: async (tool: string) =>
      sendDeviceRequest(await devices.open(`${PATH}/tools/${tool}`, O_RDWR, ctx), {}),
  }
}

const tool = { name: 'flood', description: 'Sends a lot.', inputSchema: { type: 'object' } }

describe('a hostile MCP server over HTTP', () => {
  it.each(['application/json', 'text/event-stream'])(
    'cannot fill the memory with a response of 300 MB as %s',
    async (type) => {
      let sent = 0
      const { mount, call } = await mounted(({ method }, response) => {
        if (method === 'tools/list') return { tools: [tool] }
        response.writeHead(200, { 'content-type': type })
        const piece = Buffer.alloc(MIB, 'x')
        const flood = function* () {
          yield 'data: {"jsonrpc":"2.0","id":2,"result":"'
          for (; sent < 300 * MIB; sent += MIB) yield piece
        }
        Readable.from(flood()).pipe(response)
        return undefined
      })
      await mount()
      await expect(call('flood')).rejects.toMatchObject({
        code: expect.stringMatching(/^E(?:UNAVAILABLE|IO|TIMEDOUT)$/),
      })
      expect(sent).toBeLessThan(64 * MIB)
    },
    20_000,
  )

  it.each(['\r', '\n', '\r\n'])(
    'may send more than that in short events, whose lines end with %j',
    async (end) => {
      const { mount, call } = await mounted(({ method, id }, response) => {
        if (method === 'tools/list') return { tools: [tool] }
        response.writeHead(200, { 'content-type': 'Text/Event-Stream' })
        const result = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } }
        const flood = function* () {
          for (let sent = 0; sent < 12; sent++) yield `: ${'x'.repeat(MIB)}${end}${end}`
          yield `data: ${JSON.stringify(result)}${end}${end}: the end${end}`
        }
        Readable.from(flood()).pipe(response)
        return undefined
      })
      await mount()
      expect(await call('flood')).toContain('done')
    },
  )

  it('cannot list pages without end', async () => {
    const resource = { uri: 'x://a', name: 'a' }
    const { mount, read } = await mounted(({ method }) =>
      method === 'tools/list' ? { tools: [] } : { resources: [resource], nextCursor: 'again' },
    )
    await mount()
    await expect(read('/resources')).rejects.toMatchObject({
      code: 'EIO',
      message: expect.stringContaining('same page'),
    })
  })

  it('cannot list more than the limit', async () => {
    let page = 0
    const large = { ...tool, description: 'x'.repeat(5 * MIB) }
    const { mount } = await mounted(() => ({ tools: [large], nextCursor: String(page++) }), 60_000)
    await expect(mount()).rejects.toMatchObject({ code: 'EFBIG' })
    expect(page).toBeLessThan(10)
  })
})
