import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type AgentSpec,
  createJsonRequestFile,
  type Device,
  type KernelEvent,
  listen,
  type ModelRequest,
} from '../../src/kernel/index.ts'
import { type ErrorCode, VfsError } from '../../src/vfs/index.ts'
import { scene, script } from '../support/scripted-kernel.ts'

function agentWith(fallbacks: AgentSpec['fallbacks']): AgentSpec {
  const what = { name: 'coder', systemPrompt: '', skills: [], allowedDevices: null, mcp: {} }
  return { ...what, provider: 'first', model: 'large', fallbacks }
}

/** A provider that answers a number of times, and then fails. */
function provider(name: string, asked: string[], answers: unknown[], code?: ErrorCode): Device {
  return {
    match: 'exact',
    open: () =>
      createJsonRequestFile(`/dev/llm/${name}`, async (request) => {
        asked.push(`${name} ${(request as ModelRequest).model}`)
        if (answers.length > 0 || code === undefined) return { content: answers.shift(), tokens_used: 1 }
        throw new VfsError(code, `/dev/llm/${name}`, { op: 'write', detail: 'out of order' })
      }),
  }
}

const plan = '{"action":"plan","steps":["a"]}'

function providers(code: ErrorCode) {
  const events: KernelEvent[] = []
  onTestFinished(listen((event) => events.push(event)))
  const asked: string[] = []
  const { kernel, steps } = scene(script())
  kernel.devices.register('/dev/llm/first', provider('first', asked, [plan], code))
  kernel.devices.register('/dev/llm/second', provider('second', asked, [], code))
  kernel.devices.register('/dev/llm/third', provider('third', asked, [plan, 'done']))
  return { kernel, steps, asked, events }
}

describe('a provider that fails', () => {
  it.each(['EUNAVAILABLE', 'ETIMEDOUT'] as const)(
    'with %s is replaced by the next one; steps record who answered',
    async (code) => {
      const { kernel, steps, asked, events } = providers(code)
      const agent = agentWith([{ provider: 'second' }, { model: 'small' }, { provider: 'third', model: 'x' }])
      const pid = await kernel.processes.spawn('work', { agent })
      const process = kernel.table.get(pid)
      expect(await kernel.processes.wait(pid)).toMatchObject({ code: 0 })
      expect(process.descriptors.list()).toEqual([])
      expect(asked).toEqual(['first large', 'first large', 'second ', 'first small', 'third x', 'third x'])
      expect(steps.map(({ provider, model, tokens_used }) => [provider, model, tokens_used])).toEqual([
        ['first', 'large', 1],
        ['third', 'x', 1],
        ['third', 'x', 1],
      ])
      const logs = events.flatMap((event) => (event.kind === 'log' ? [event.text] : []))
      expect(logs).toContainEqual(
        expect.stringMatching(/^first \(large\) failed: .*out of order.*; second answers from now on$/),
      )
    },
  )

  it.each(['EACCES', 'EINVAL', 'EIO'] as const)('with %s ends the process', async (code) => {
    const { kernel, asked } = providers(code)
    const agent = agentWith([{ provider: 'third' }])
    const exit = await kernel.processes.wait(await kernel.processes.spawn('work', { agent }))
    expect(exit).toMatchObject({ code: 1, reason: expect.stringContaining(code) })
    expect(asked).toEqual(['first large', 'first large'])
  })

  it('is not replaced if it was chosen explicitly, or if it is the last', async () => {
    const { kernel, asked } = providers('EUNAVAILABLE')
    const agent = agentWith([{ provider: 'third' }])
    const chosen = await kernel.processes.spawn('work', { agent, provider: 'second' })
    expect(await kernel.processes.wait(chosen)).toMatchObject({ code: 1 })
    const last = await kernel.processes.spawn('work', { agent: agentWith([{ provider: 'second' }]) })
    expect(await kernel.processes.wait(last)).toMatchObject({
      reason: expect.stringContaining('/dev/llm/second'),
    })
    expect(asked).not.toContain('third ')
  })
})

it('an unknown fallback is refused at spawn', async () => {
  const { kernel } = providers('EUNAVAILABLE')
  const spawned = kernel.processes.spawn('work', { agent: agentWith([{ provider: 'nobody' }]) })
  await expect(spawned).rejects.toMatchObject({ code: 'ENOENT' })
  expect([kernel.table.list(), kernel.contexts.count]).toEqual([[], 0])
})
