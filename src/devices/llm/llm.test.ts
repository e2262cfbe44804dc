import { createServer } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createJsonRequestFile,
  type Device,
  DeviceRegistry,
  Kernel,
  type StepRecord,
} from '../../kernel/index.ts'
import { MemoryFs, writeFile } from '../../vfs/index.ts'
import { openaiCompatibleDevice, scriptDevice } from './index.ts'

/** Creates a device that stores notes and numbers them. */
function notes(): Device {
  const kept: unknown[] = []
  const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }
  return {
    match: 'exact',
    tools: [{ name: 'note', description: 'Notes.', inputSchema, request: (body) => ({ subpath: '', body }) }],
    open: () => createJsonRequestFile('/dev/notes', async (note) => ({ ok: true, note: kept.push(note) })),
  }
}

function kernelWith(devices: Readonly<Record<string, Device>>): { kernel: Kernel; steps: StepRecord[] } {
  const registry = new DeviceRegistry()
  for (const [path, device] of Object.entries(devices)) registry.register(path, device)
  const steps: StepRecord[] = []
  const kernel = new Kernel({
    devices: registry,
    createEnvironment: async () => ({
      fs: new MemoryFs(),
      caller: { kind: 'system' },
      close: async () => {},
    }),
    steps: { write: async (_uuid, record) => void steps.push(record) },
  })
  onTestFinished(() => kernel.shutdown())
  return { kernel, steps }
}

/** Waits for the result of a process. */
async function resultOf(kernel: Kernel, intent: string, options: object): Promise<unknown> {
  const pid = await kernel.processes.spawn(intent, options)
  const process = kernel.table.get(pid)
  const exit = await kernel.processes.wait(pid)
  return exit.code === 0 ? process.result : exit.reason
}

const team = `
shared: true
script:
  - expect: { intent: ship it, tools: note }
    say: { action: plan, steps: [note it, give it away] }
  - expect: { last_message_contains: The plan is noted }
    say: { tool_call: { name: note, input: { text: Write the code. } } }
  - expect: { last_message_matches: '"note":(?<note>\\d+)', intent: ship it }
    say: { action: spawn, intent: 'work on note {{note}}' }
  - expect: { last_message_contains: finished note 1 }
    say: { action: complete, result: 'shipped, after note {{note}} was done' }

  - expect: { intent: work on, last_message_matches: 'note (?<number>\\d+)' }
    say: { action: tool_call, tool: /dev/notes, input: { text: 'began {{number}}' } }
  - expect: { intent: work on }
    say: finished note {{number}}
`

describe('a process', () => {
  it('plays its script, and so do the processes it spawns', async () => {
    const fs = new MemoryFs()
    await writeFile(fs, '/team.yaml', team)
    const { kernel, steps } = kernelWith({ '/dev/llm/script': scriptDevice({ fs }), '/dev/notes': notes() })
    const result = await resultOf(kernel, 'ship it', { provider: 'script/team' })
    expect(result).toBe('shipped, after note 1 was done')
    expect(steps.map(({ action }) => action)).toEqual([
      ...['plan', 'tool_call', 'tool_call', 'text', 'spawn', 'complete'],
    ])
  })

  it('does not start with an invalid script', async () => {
    const fs = new MemoryFs()
    await writeFile(fs, '/bad.yaml', '- sya: x\n')
    const { kernel } = kernelWith({ '/dev/llm/script': scriptDevice({ fs }) })
    await expect(kernel.processes.spawn('try', { provider: 'script/bad' })).rejects.toMatchObject({
      code: 'EINVAL',
      path: '/bad.yaml',
    })
    expect(kernel.table.list()).toEqual([])
  })

  it.each([
    [
      'native calls',
      '{ tool_calls: [{ name: note, input: { text: a } }, { name: nobody }, { name: note }] }',
    ],
    [
      'a list of actions in its text',
      `'[${['note', 'nobody', 'note'].map((tool) => JSON.stringify({ action: 'tool_call', tool, input: {} })).join(', ')}]'`,
    ],
    [
      'an action to a line of its text',
      JSON.stringify(
        ['note', 'nobody', 'note']
          .map((tool) => JSON.stringify({ action: 'tool_call', tool, input: {} }))
          .join('\n'),
      ),
    ],
  ])('performs all calls of one response in order: %s', async (_form, say) => {
    const fs = new MemoryFs()
    await writeFile(
      fs,
      '/many.yaml',
      `
- say: ${say}
- expect: { contains: ['"note":1', 'nobody'], last_message_contains: '"note":2' }
  say: done
`,
    )
    const { kernel, steps } = kernelWith({ '/dev/llm/script': scriptDevice({ fs }), '/dev/notes': notes() })
    expect(await resultOf(kernel, 'note', { provider: 'script/many' })).toBe('done')
    expect(steps[0]?.tool_calls).toMatchObject([
      { tool_path: '/dev/notes', tool_result: expect.stringContaining('"note":1'), tool_error: '' },
      { tool_result: '', tool_error: expect.stringContaining('nobody') },
      { tool_path: '/dev/notes', tool_result: expect.stringContaining('"note":2') },
    ])
  })

  it('may repeat native tool calls with the same outcome', async () => {
    const asked: { messages: object[] }[] = []
    const server = createServer(async (incoming, response) => {
      let text = ''
      for await (const chunk of incoming) text += chunk
      asked.push(JSON.parse(text))
      const number = asked.length
      const call = { name: 'note', arguments: `{"text":"${number}"}` }
      const delta =
        number > 6
          ? { content: 'all noted' }
          : { tool_calls: [{ index: 0, id: `c${number}`, type: 'function', function: call }] }
      const chunk = {
        id: 'x',
        choices: [{ index: 0, delta, finish_reason: number > 6 ? 'stop' : 'tool_calls' }],
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = Object.assign({ port: 0 }, server.address())
    const local = openaiCompatibleDevice({ name: 'local', baseUrl: `http://127.0.0.1:${port}`, model: 'm' })
    const same: Device = { ...notes(), open: () => createJsonRequestFile('/dev/notes', async () => 'ok') }
    const { kernel } = kernelWith({ '/dev/llm/local': local, '/dev/notes': same })
    expect(await resultOf(kernel, 'note all', { provider: 'local' })).toBe('all noted')
    expect(asked[2]?.messages).toMatchObject([
      { role: 'user', content: 'note all' },
      {
        role: 'assistant',
        tool_calls: [{ id: 'c1', function: { name: 'note', arguments: '{"text":"1"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '"ok"' },
      { role: 'assistant', tool_calls: [{ id: 'c2', function: { arguments: '{"text":"2"}' } }] },
      { role: 'tool', tool_call_id: 'c2', content: '"ok"' },
    ])
  })
})
