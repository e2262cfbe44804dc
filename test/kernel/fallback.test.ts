import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type AgentSpec,
  BusyError,
  createJsonRequestFile,
  type Device,
  type KernelEvent,
  listen,
  type ModelRequest,
  ModelStartError,
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

describe('a model that cannot be started', () => {
  /** Providers that fail with an error for some requests, and answer then. */
  function failing(errors: Readonly<Record<string, VfsError[]>>, retryMs: number) {
    const asked: string[] = []
    const { kernel } = scene(script(), { defaults: { retryMs } })
    for (const [name, left] of Object.entries(errors)) {
      const open = () =>
        createJsonRequestFile(`/dev/llm/${name}`, async () => {
          asked.push(name)
          const error = left.shift()
          if (error !== undefined) throw error
          return { content: 'done', tokens_used: 1 }
        })
      kernel.devices.register(`/dev/llm/${name}`, { match: 'exact', open })
    }
    return { kernel, asked }
  }
  const missing = () =>
    new ModelStartError('ENOENT', '/dev/llm/first', { op: 'write', detail: 'install it with x' })
  const busy = () => new BusyError('/dev/llm/second', 0, { op: 'write', detail: 'too many requests' })
  const agent = agentWith([{ provider: 'second' }])

  it('ends the process at once, however long it may try', async () => {
    const { kernel, asked } = failing({ first: [missing()] }, 60_000)
    const pid = await kernel.processes.spawn('work', { agent: agentWith([]) })
    const exit = await kernel.processes.wait(pid)
    expect(exit).toMatchObject({ code: 1, reason: expect.stringContaining('install it with x') })
    expect(asked).toEqual(['first'])
  })

  it('is replaced by the next one', async () => {
    const { kernel, asked } = failing({ first: [missing()], second: [] }, 60_000)
    expect(await kernel.processes.wait(await kernel.processes.spawn('work', { agent }))).toMatchObject({
      code: 0,
    })
    expect(asked).toEqual(['first', 'second'])
  })

  it.each([
    ['first', { first: [missing(), missing()], second: [busy()] }],
    ['last', { first: [busy()], second: [missing()] }],
  ])('does not keep others from being asked again if it is the %s', async (_where, errors) => {
    const { kernel } = failing(errors, 60_000)
    const exit = await kernel.processes.wait(await kernel.processes.spawn('work', { agent }))
    expect(exit).toMatchObject({ code: 0 })
  })
})
