import { once } from 'node:events'
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { McpSession } from './mcp-session.ts'
import { createToolsFeature, type McpToolRequest } from './tools-feature.ts'

/** Connects a client to a server with one tool, implemented by the test. */
async function clientOf(
  work: (request: McpToolRequest) => Promise<unknown>,
  name = 'test',
): Promise<{ client: Client; session: McpSession }> {
  const part = createToolsFeature(() => ({
    list: () => [{ name: 'work', inputSchema: { type: 'object' } }],
    async call(_name, _args, request) {
      return { content: [{ type: 'text', text: String(await work(request)) }] }
    },
  }))
  const session = new McpSession({ info: { name: 'test', version: '1' }, parts: [part] })
  const client = new Client({ name, version: '1' })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await session.connect(ours)
  await client.connect(theirs)
  onTestFinished(() => session.close())
  return { client, session }
}

describe('a call', () => {
  it('reports increasing progress, including the last, and none after the response', async () => {
    let report: McpToolRequest['progress'] = () => {}
    const { client } = await clientOf(async ({ progress }) => {
      report = progress
      for (const done of [1, 2, 9, 3]) progress(done, 10, `${done} of 10`)
      return 'done'
    })
    const reports: unknown[] = []
    const onprogress = (progress: unknown) => void reports.push(progress)
    await client.callTool({ name: 'work' }, { onprogress })
    report(10, 10)
    await client.ping()
    expect(reports).toEqual([
      { progress: 1, total: 10, message: '1 of 10' },
      { progress: 9, total: 10, message: '9 of 10' },
    ])
  })

  it('reports no progress unless requested', async () => {
    const { client } = await clientOf(async ({ progress, extra }) => {
      progress(1)
      return extra.mcpReq._meta?.progressToken
    })
    const notices: unknown[] = []
    client.fallbackNotificationHandler = async (notice) => void notices.push(notice)
    await client.callTool({ name: 'work' })
    await client.ping()
    expect(notices).toEqual([])
  })

  it("leaves a short and printable trace, whatever the client's name", async () => {
    const tracesOf = async (name: string) => {
      const { client } = await clientOf(async ({ trace }) => trace, name)
      return JSON.stringify(await client.callTool({ name: 'work' }))
    }
    expect(await tracesOf('editor')).toMatch(/"editor\/\d+"/)
    expect(await tracesOf(`a\n\u001b[2J\u202e\ud800z`)).toMatch(/"a��\[2J��z\/\d+"/)
    expect(await tracesOf('n'.repeat(1_000_000))).toMatch(/"n{100}…\/\d+"/)
    // The cut is between the halves of a character.
    expect(await tracesOf(`${'n'.repeat(99)}😀`)).toMatch(/"n{99}�…\/\d+"/)
    const { client } = await clientOf(async ({ trace }) => trace)
    const answer = Promise.withResolvers<unknown>()
    if (client.transport === undefined) throw new Error('not connected')
    client.transport.onmessage = answer.resolve
    const id = `i\n${'i'.repeat(1_000_000)}`
    await client.transport.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'work' } })
    expect(JSON.stringify(await answer.promise)).toMatch(/"test\/i�i{58}…"/)
  })

  it('is cancelled by its client, and the session goes on', async () => {
    const started = Promise.withResolvers<void>()
    const stopped = Promise.withResolvers<void>()
    const { client } = await clientOf(async ({ signal }) => {
      started.resolve()
      await once(signal, 'abort')
      stopped.resolve()
    })
    const cancel = new AbortController()
    const call = client.callTool({ name: 'work' }, { signal: cancel.signal })
    await started.promise
    cancel.abort('enough')
    await expect(call).rejects.toThrow('enough')
    await stopped.promise
    await expect(client.ping()).resolves.toEqual({})
  })

  it('ends with its session', async () => {
    const started = Promise.withResolvers<void>()
    const stopped = Promise.withResolvers<void>()
    const { client, session } = await clientOf(async ({ signal }) => {
      started.resolve()
      await once(signal, 'abort')
      stopped.resolve()
    })
    const call = client.callTool({ name: 'work' })
    await started.promise
    await session.close()
    await stopped.promise
    await expect(call).rejects.toThrow(/closed/)
    expect(session.signal.aborted).toBe(true)
  })
})

describe('a log', () => {
  it("omits messages below the client's level", async () => {
    const { client, session } = await clientOf(async () => 'done')
    const levels: unknown[] = []
    client.fallbackNotificationHandler = async ({ params }) => void levels.push(params?.['level'])
    const write = async () => {
      for (const level of ['debug', 'info', 'warning', 'error'] as const) await session.log.write(level, 'x')
    }
    await write()
    await client.setLoggingLevel('error')
    await write()
    await client.setLoggingLevel('info')
    await write()
    await client.ping()
    expect(levels).toEqual(['warning', 'error', 'error', 'info', 'warning', 'error'])
  })
})
