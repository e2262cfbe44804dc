import { describe, expect, it, onTestFinished } from 'vitest'
import { contextCaller } from '../../src/access/index.ts'
import {
  createJsonRequestFile,
  type KernelEvent,
  listen,
  RequestFile,
  reapSteps,
} from '../../src/kernel/index.ts'
import { MemoryFs } from '../../src/vfs/index.ts'
import { call, type Say, scene, script, until } from '../support/scripted-kernel.ts'

describe('a process', () => {
  it('ends with the final text of its model, and is reaped after wait', async () => {
    const { kernel, closed } = scene(script('the answer'))
    const pid = await kernel.processes.spawn('ask')
    const process = kernel.table.get(pid)
    expect(pid).toBe(1)
    expect(await kernel.processes.wait(pid)).toEqual({ code: 0, reason: 'completed' })
    expect(process).toMatchObject({ result: 'the answer', state: 'dead', tokensUsed: 10 })
    expect(kernel.table.list()).toEqual([])
    expect(kernel.contexts.count).toBe(0)
    expect(closed).toEqual([1])
    await expect(kernel.processes.wait(pid)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('asks a model whose device has only bytes', async () => {
    const { kernel } = scene(script())
    const asked: string[] = []
    const answer = async (request: Uint8Array) => {
      asked.push(JSON.parse(new TextDecoder().decode(request)).messages[0].content)
      return '{"content":"in bytes","tokens_used":3}'
    }
    kernel.devices.register('/dev/llm/bytes', {
      match: 'exact',
      open: () => new RequestFile('/dev/llm/bytes', answer),
    })
    const pid = await kernel.processes.spawn('ask', { provider: 'bytes' })
    const process = kernel.table.get(pid)
    await kernel.processes.wait(pid)
    expect(asked).toEqual(['ask'])
    expect(process).toMatchObject({ result: 'in bytes', tokensUsed: 3 })
  })

  it('names in its steps the commands that failed', async () => {
    const { kernel, steps } = scene(
      script(call('shell', { command: 'npm test' }), call('shell', { command: 'sleep 1' })),
    )
    const results = [
      { exit_code: 3, timed_out: false },
      { exit_code: 124, timed_out: true },
    ]
    const answer = async () => results.shift()
    kernel.devices.register('/dev/shell', {
      match: 'exact',
      open: () => createJsonRequestFile('/dev/shell', answer),
      tools: [
        { name: 'shell', description: '', inputSchema: {}, request: (body) => ({ subpath: '', body }) },
      ],
    })
    const pid = await kernel.processes.spawn('test')
    await kernel.processes.wait(pid)
    expect(steps.map(({ summary }) => summary)).toEqual([
      'shell npm test: exit 3',
      'shell sleep 1: timed out',
      'completed',
    ])
  })

  it('is offered in each step the tools that its devices have then', async () => {
    const offered: string[][] = []
    const createTool = (name: string) => ({
      name,
      description: '',
      inputSchema: {},
      request: () => ({ subpath: '' }),
    })
    const answer = { match: 'exact' as const, open: () => createJsonRequestFile('/dev/own', async () => '') }
    const own = { ...answer, tools: [createTool('own_first')] }
    const { kernel } = scene(({ tools }) => {
      offered.push(tools.map(({ name }) => name).filter((name) => name.startsWith('own_')))
      if (offered.length === 1) own.tools = [createTool('own_later'), createTool('own_last')]
      if (offered.length === 2) kernel.devices.register('/dev/other', { ...own, tools: own.tools })
      if (offered.length === 3) kernel.devices.unregister('/dev/own')
      return offered.length < 4 ? call('echo', { a: offered.length }) : 'done'
    })
    kernel.devices.register('/dev/own', own)
    await kernel.processes.wait(await kernel.processes.spawn('try'))
    const later = ['own_later', 'own_last']
    expect(offered).toEqual([['own_first'], later, [...later, ...later], later])
  })

  it('calls tools by name and devices by path, and gets the results', async () => {
    const received: string[] = []
    const answers = [call('echo', { a: 1 }), call('/dev/echo/quiet', 'x"'), call('/dev/nothing', {}), 'done']
    const { kernel, steps } = scene(({ messages }) => {
      received.push(messages.at(-1)?.content ?? '')
      return answers.shift()
    })
    await kernel.processes.wait(await kernel.processes.spawn('try'))
    expect(received).toEqual([
      'try',
      '{"subpath":"/loud","request":{"a":1}}',
      expect.stringContaining('the request is not valid JSON'),
      expect.stringContaining('ENOENT'),
    ])
    expect(steps.map(({ action, tool_path, tool_error }) => [action, tool_path, tool_error === ''])).toEqual([
      ['tool_call', '/dev/echo/loud', true],
      ['tool_call', '/dev/echo/quiet', false],
      ['tool_call', '/dev/nothing', false],
      ['text', '', true],
    ])
  })

  it('gets the beginning of a long file, and where to continue', async () => {
    const received: string[] = []
    const answers = [call('/workspace/lines', undefined), call('/workspace/line', undefined), 'done']
    const say: Say = ({ messages }) => {
      received.push(messages.at(-1)?.content ?? '')
      return answers.shift()
    }
    const lines = 'x'.repeat(99).concat('\n').repeat(3000)
    const fs = new MemoryFs({ '/workspace/lines': lines, '/workspace/line': '😀'.repeat(100_000) })
    const { kernel } = scene(say, {
      createEnvironment: async () => ({ fs, caller: contextCaller('anna'), close: async () => {} }),
    })
    await kernel.processes.wait(await kernel.processes.spawn('read'))
    expect(received[1]).toBe(
      `${lines.slice(0, 100_000)}… (more follows, from line 1001 on: continue with file_read, offset 1001)`,
    )
    expect(received[2]).toMatch(/^(?:😀){50000}\n… \(more follows, from line 1 on: .*\)$/u)
  })

  it('is informed of a malformed action, and continues', async () => {
    const { kernel, steps } = scene(
      script('{"action": "fly"}', '```json\n{"action":"complete","result":"ok"}\n```'),
    )
    const pid = await kernel.processes.spawn('try')
    const process = kernel.table.get(pid)
    expect(await kernel.processes.wait(pid)).toMatchObject({ code: 0 })
    expect(process.result).toBe('ok')
    expect(steps.map(({ action }) => action)).toEqual(['malformed', 'complete'])
  })

  it('learns that the arguments of a call are not a JSON object, and the tool is not called', async () => {
    const seen: string[] = []
    const wrong = ['{"a": "b', ['a'], 7]
    const say: Say = ({ messages }) => {
      seen.push(messages.at(-1)?.content ?? '')
      const tool_calls = wrong.splice(0, 1).map((input) => ({ id: `c${wrong.length}`, name: 'echo', input }))
      return tool_calls.length === 0 ? 'done' : { content: '', tokens_used: 1, tool_calls }
    }
    const { kernel, steps } = scene(say)
    expect(await kernel.processes.wait(await kernel.processes.spawn('try'))).toMatchObject({ code: 0 })
    expect(seen.slice(1)).toEqual(
      ['{"a": "b', '["a"]', '7'].map(
        (input) =>
          `Malformed action: the input of 'echo' is not a valid JSON object: ${input}. Send it again.`,
      ),
    )
    expect(steps.map(({ action }) => action)).toEqual(['malformed', 'malformed', 'malformed', 'text'])
  })

  it('stops at its token budget', async () => {
    const { kernel } = scene(script('{"action":"plan","steps":["a"]}', 'done'))
    const pid = await kernel.processes.spawn('spend', { contextBudget: 20 })
    expect(await kernel.processes.wait(pid)).toEqual({ code: 2, reason: 'budget_exceeded' })
  })

  it('is stopped in a loop, and after its last step', async () => {
    const again = call('echo', {})
    const { kernel } = scene(() => again)
    const exit = await kernel.processes.wait(await kernel.processes.spawn('loop'))
    expect(exit).toMatchObject({ code: 1, reason: expect.stringContaining('loop_detected') })
    let number = 0
    const { kernel: other } = scene(() => call('echo', { number: number++ }))
    expect(await other.processes.wait(await other.processes.spawn('long', { maxSteps: 5 }))).toMatchObject({
      reason: expect.stringContaining('max_steps_exceeded'),
    })
    expect(number).toBe(5)
  })

  it('can be killed during a model request, and leaves nothing open', async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    const { kernel } = scene((_request, signal) => {
      resolve()
      return until(signal)
    })
    const pid = await kernel.processes.spawn('wait')
    await asked
    const process = kernel.table.get(pid)
    kernel.processes.kill(pid, 'SIGKILL')
    expect(await kernel.processes.wait(pid)).toEqual({ code: 1, reason: 'killed: SIGKILL' })
    expect(process.descriptors.list()).toEqual([])
  })

  it('reports that it was killed while paused', async () => {
    const { kernel } = scene(() => call('echo', Math.random()))
    const pid = await kernel.processes.spawn('pause me')
    kernel.signals.signal(pid, 'SIGPAUSE')
    kernel.signals.signal(pid, 'SIGKILL')
    expect(await kernel.processes.wait(pid)).toEqual({ code: 1, reason: 'context cancelled while paused' })
  })

  it('leaves nothing behind if it cannot be started', async () => {
    const { kernel, closed } = scene(script('x'))
    await expect(kernel.processes.spawn('no', { provider: 'nobody' })).rejects.toMatchObject({
      code: 'ENOENT',
    })
    expect([kernel.table.list(), kernel.contexts.count, closed]).toEqual([[], 0, [1]])
  })

  it('is reaped in twelve steps, once', async () => {
    const { kernel } = scene(script('x'))
    const events: KernelEvent[] = []
    onTestFinished(listen((event) => events.push(event)))
    const pid = await kernel.processes.spawn('end')
    await Promise.all([kernel.processes.wait(pid), kernel.processes.wait(pid)])
    expect(events.flatMap((event) => (event.kind === 'reap' ? [event.step] : []))).toEqual(reapSteps)
  })
})

it('a process without a parent is reaped by the kernel, and its exit status waits for one caller', async () => {
  const { kernel } = scene(() => 'done')
  const pid = await kernel.processes.spawn('work')
  await expect.poll(() => kernel.table.find(pid)).toBeUndefined()
  expect(await kernel.processes.wait(pid)).toEqual({ code: 0, reason: 'completed' })
  await expect(kernel.processes.wait(pid)).rejects.toMatchObject({ code: 'ENOENT' })
})
