import { describe, expect, it, onTestFinished } from 'vitest'
import { contextCaller } from '../../src/access/index.ts'
import { type AgentSpec, type KernelEvent, listen, type MountManager } from '../../src/kernel/index.ts'
import { MemoryFs } from '../../src/vfs/index.ts'
import { scene, script, until } from '../support/scripted-kernel.ts'

const agent: AgentSpec = {
  name: 'coder',
  systemPrompt: '',
  skills: [],
  allowedDevices: null,
  mcp: { docs: {}, slow: {} },
}

/** Collects all events from now on. */
function heard(): KernelEvent[] {
  const events: KernelEvent[] = []
  onTestFinished(listen((event) => events.push(event)))
  return events
}

function logsOf(events: readonly KernelEvent[]): string[] {
  return events.flatMap((event) => (event.kind === 'log' ? [event.text] : []))
}

describe('a listener', () => {
  it('stops no process by throwing', async () => {
    const events = heard()
    const no = (name: string) => () => {
      throw new Error(`no ${name}`)
    }
    const callbacks = {
      onSpawn: no('spawn'),
      onStep: no('step'),
      onComplete: async () => no('end')(),
      onError: no('error'),
    }
    const { kernel } = scene(script('done', { content: 3 }), { callbacks })
    const pid = await kernel.processes.spawn('go on')
    expect(await kernel.processes.wait(pid)).toEqual({ code: 0, reason: 'completed' })
    const failing = await kernel.processes.spawn('fail')
    expect(await kernel.processes.wait(failing)).toMatchObject({ code: 1 })
    expect(kernel.table.list()).toEqual([])
    expect(logsOf(events)).toEqual(
      expect.arrayContaining([
        'onSpawn failed: no spawn',
        'onStep failed: no step',
        'onError failed: no error',
      ]),
    )
  })

  it('that always fails is reported once an event, and others still get all events', async () => {
    onTestFinished(
      listen(() => {
        throw new Error('deaf')
      }),
    )
    const events = heard()
    const { kernel } = scene(script('done'))
    expect(await kernel.processes.wait(await kernel.processes.spawn('go on'))).toMatchObject({ code: 0 })
    const faults = logsOf(events).filter((text) => text === 'a listener failed: deaf')
    expect(events.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['spawned', 'ended', 'reap']))
    expect(faults).toHaveLength(events.length - faults.length)
  })

  it('sending a signal does not see errors of its handler', async () => {
    const { kernel } = scene((_request, signal) => until(signal))
    const pids = [await kernel.processes.spawn('a'), await kernel.processes.spawn('b')]
    const [first = 0] = pids
    kernel.signals.sigHandle(first, 'SIGTERM', () => {
      throw new Error('not now')
    })
    for (const pid of pids) kernel.groups.joinGroup(pid, 'team')
    kernel.groups.signalGroup('team', 'SIGTERM')
    expect(await kernel.processes.wait(pids[1] ?? 0)).toMatchObject({ reason: 'killed: SIGTERM' })
    expect(kernel.table.get(first).state).toBe('running')
  })
})

describe('a process that is killed', () => {
  it('while its model is opened leaves nothing, and its waiters are notified', async () => {
    const { kernel, closed } = scene(script('never'))
    const opening = Promise.withResolvers<void>()
    kernel.devices.register('/dev/llm/slow', {
      match: 'exact',
      open: (_subpath, _mode, ctx) => {
        opening.resolve()
        return until(ctx.signal)
      },
    })
    const spawned = kernel.processes.spawn('begin', { provider: 'slow' })
    spawned.catch(() => {})
    await opening.promise
    kernel.groups.joinGroup(1, 'team')
    const waiting = kernel.processes.wait(1)
    kernel.processes.kill(1, 'SIGKILL')
    await expect(spawned).rejects.toThrow('killed: SIGKILL before it started')
    expect(await waiting).toMatchObject({ code: 1 })
    expect([kernel.table.list(), kernel.contexts.count, closed]).toEqual([[], 0, [1]])
    expect(() => kernel.groups.getProcGroup('team')).toThrow('ENOENT')
  })

  it('while its servers are mounted leaves none of them', async () => {
    const mounted = new Set<string>()
    const slow = Promise.withResolvers<void>()
    const mounts: MountManager = {
      async mount(path, _config, signal) {
        if (path.endsWith('slow')) {
          slow.resolve()
          await until(signal)
        }
        mounted.add(path)
      },
      unmount: async (path) => void mounted.delete(path),
      unmountAll: async () => {},
    }
    const { kernel } = scene(script('never'), { mounts })
    const spawned = kernel.processes.spawn('begin', { agent })
    spawned.catch(() => {})
    await slow.promise
    expect(mounted).toEqual(new Set(['/mnt/mcp/1-docs']))
    kernel.processes.kill(1, 'SIGTERM')
    await expect(spawned).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
    expect([[...mounted], kernel.table.list(), kernel.contexts.count]).toEqual([[], [], 0])
  })

  it('while it waits for a child ends at once, and the child continues as an orphan', async () => {
    const childAsked = Promise.withResolvers<void>()
    const { kernel } = scene(({ intent }, signal) => {
      if (intent === 'lead') return '{"action":"spawn","intent":"help"}'
      childAsked.resolve()
      return until(signal)
    })
    const parent = await kernel.processes.spawn('lead')
    await childAsked.promise
    const child = kernel.table.list().find(({ ppid }) => ppid === parent)
    kernel.processes.kill(parent, 'SIGKILL')
    expect(await kernel.processes.wait(parent)).toEqual({ code: 1, reason: 'killed: SIGKILL' })
    expect(child).toMatchObject({ ppid: 0, state: 'running' })
    kernel.processes.kill(child?.pid ?? 0, 'SIGKILL')
    await expect.poll(() => kernel.table.list()).toEqual([])
  })

  it('while it reads from a pipe ends, although the writer still runs', async () => {
    const { kernel } = scene((_request, signal) => until(signal))
    const writer = await kernel.processes.spawn('write')
    const piped = Promise.withResolvers<number>()
    const reader = await kernel.processes.spawn('read', {
      program: async ({ pid }) => {
        await kernel.files.read(pid, await piped.promise, 10)
        return { code: 0, reason: 'read' }
      },
    })
    piped.resolve((await kernel.ipc.pipe(writer, reader)).readFd)
    kernel.processes.kill(reader, 'SIGKILL')
    expect(await kernel.processes.wait(reader)).toEqual({ code: 1, reason: 'killed: SIGKILL' })
  })

  it('ends on SIGKILL whatever it blocks and handles', async () => {
    const { kernel } = scene((_request, signal) => until(signal))
    const pid = await kernel.processes.spawn('stay')
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGPAUSE', 'SIGRESUME'] as const) {
      kernel.signals.sigHandle(pid, signal, () => {})
      kernel.signals.sigBlock(pid, signal)
    }
    kernel.processes.kill(pid, 'SIGTERM')
    kernel.processes.kill(pid, 'SIGKILL')
    expect(await kernel.processes.wait(pid)).toMatchObject({ reason: 'killed: SIGKILL' })
  })
})

describe('a spawn', () => {
  it('that is pending at shutdown is rolled back, and later ones are refused', async () => {
    const asked = Promise.withResolvers<void>()
    const ready = Promise.withResolvers<void>()
    const closed: number[] = []
    const { kernel } = scene(script('never'), {
      createEnvironment: async (pid) => {
        asked.resolve()
        await ready.promise
        return { fs: new MemoryFs(), caller: contextCaller('anna'), close: async () => void closed.push(pid) }
      },
    })
    const spawned = kernel.processes.spawn('late')
    spawned.catch(() => {})
    await asked.promise
    const down = kernel.shutdown()
    ready.resolve()
    await down
    expect([closed, kernel.table.list()]).toEqual([[1], []])
    await expect(spawned).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
    await expect(kernel.processes.spawn('later')).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
  })

  it('belongs to the kernel if its parent ended meanwhile', async () => {
    const asked = Promise.withResolvers<void>()
    const ready = Promise.withResolvers<void>()
    const { kernel } = scene((_request, signal) => until(signal), {
      createEnvironment: async (pid) => {
        if (pid === 2) {
          asked.resolve()
          await ready.promise
        }
        return { fs: new MemoryFs(), caller: contextCaller('anna'), close: async () => {} }
      },
    })
    const parent = await kernel.processes.spawn('lead')
    const spawned = kernel.processes.spawn('help', { parent })
    await asked.promise
    kernel.processes.kill(parent, 'SIGKILL')
    await kernel.processes.wait(parent)
    ready.resolve()
    expect(kernel.table.get(await spawned).ppid).toBe(0)
  })
})

describe('a budget', () => {
  const plan = '{"action":"plan","steps":["a"]}'

  it.each([
    { contextBudget: 19, code: 2, tokensUsed: 20 },
    { contextBudget: 20, code: 2, tokensUsed: 20 },
    { contextBudget: 21, code: 0, tokensUsed: 20 },
    { contextBudget: 0, code: 0, tokensUsed: 20 },
    { contextBudget: -1, code: 0, tokensUsed: 20 },
  ])('of $contextBudget tokens with 20 used ends with $code', async ({ contextBudget, code, tokensUsed }) => {
    const events = heard()
    const { kernel } = scene(script(plan, 'done'))
    const pid = await kernel.processes.spawn('spend', { contextBudget })
    const process = kernel.table.get(pid)
    expect(await kernel.processes.wait(pid)).toMatchObject({ code })
    expect(process.tokensUsed).toBe(tokensUsed)
    const texts = events.flatMap((event) => (event.kind === 'budget_exceeded' ? [event.text] : []))
    expect(texts).toEqual(code === 2 ? [`Token budget exceeded: 20/${contextBudget}`] : [])
  })
})

it('a process is reaped once for any number of waiters, and later ones get ENOENT', async () => {
  const events = heard()
  const { kernel } = scene(script('done'))
  const pid = await kernel.processes.spawn('end')
  const exits = await Promise.all(Array.from({ length: 5 }, () => kernel.processes.wait(pid)))
  expect(new Set(exits.map(({ code }) => code))).toEqual(new Set([0]))
  expect(events.filter((event) => event.kind === 'reap' && event.step === 'dead')).toHaveLength(1)
  await expect(kernel.processes.wait(pid)).rejects.toMatchObject({ code: 'ENOENT' })
})
