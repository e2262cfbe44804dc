import { describe, expect, it } from 'vitest'
import type { ChildSpec, ExitStatus, Kernel, Restart, Strategy } from '../../src/kernel/index.ts'
import { scene, until } from '../support/scripted-kernel.ts'

/** Children that end when the test says so. */
class Nursery {
  readonly kernel: Kernel = scene((_request, signal) => until(signal)).kernel
  /** Names of children in the order of their start. */
  readonly started: string[] = []
  readonly stopped: string[] = []
  readonly #ends = new Map<string, (exit: ExitStatus) => void>()

  child(name: string, restart?: Restart): ChildSpec {
    return {
      intent: name,
      ...(restart !== undefined && { restart }),
      options: {
        program: async (process) => {
          this.started.push(name)
          const { promise, resolve } = Promise.withResolvers<ExitStatus>()
          this.#ends.set(name, resolve)
          process.signal.addEventListener('abort', () => {
            // One that ended by itself is cancelled when it is reaped.
            if (process.state === 'running') this.stopped.push(name)
            resolve({ code: 1, reason: 'stopped' })
          })
          return promise
        },
      },
    }
  }

  async run(strategy: Strategy, children: readonly ChildSpec[]): Promise<number> {
    const pid = await this.kernel.spawnSupervisor({ strategy, children })
    await this.expectStarted(children.map(({ intent }) => intent))
    return pid
  }

  async expectStarted(names: readonly string[]): Promise<void> {
    await expect.poll(() => this.started).toEqual(names)
  }

  end(name: string, code = 1): void {
    this.#ends.get(name)?.({ code, reason: 'by itself' })
  }
}

describe('a supervisor', () => {
  it.each([
    ['one_for_one', ['a', 'b', 'c', 'b'], []],
    ['one_for_all', ['a', 'b', 'c', 'a', 'b', 'c'], ['c', 'a']],
    ['rest_for_one', ['a', 'b', 'c', 'b', 'c'], ['c']],
  ] as const)(
    '%s begins anew whom it should, and stops the last first',
    async (strategy, started, stopped) => {
      const nursery = new Nursery()
      await nursery.run(
        strategy,
        ['a', 'b', 'c'].map((name) => nursery.child(name)),
      )
      nursery.end('b')
      await nursery.expectStarted(started)
      expect(nursery.stopped).toEqual(stopped)
    },
  )

  it('restarts transient children only after a failure, and temporary ones never', async () => {
    const nursery = new Nursery()
    const pid = await nursery.run('one_for_one', [
      nursery.child('t', 'transient'),
      nursery.child('x', 'temporary'),
    ])
    nursery.end('t', 1)
    await nursery.expectStarted(['t', 'x', 't'])
    nursery.end('x', 1)
    nursery.end('t', 0)
    expect(await nursery.kernel.processes.wait(pid)).toEqual({ code: 0, reason: 'completed' })
    expect(nursery.started).toEqual(['t', 'x', 't'])
  })

  it('gives up after three restarts within a minute, and stops the others', async () => {
    const nursery = new Nursery()
    const pid = await nursery.run('one_for_one', [nursery.child('a'), nursery.child('b')])
    for (let times = 2; times <= 4; times++) {
      nursery.end('b')
      await expect.poll(() => nursery.started.filter((name) => name === 'b').length).toBe(times)
    }
    nursery.end('b')
    expect(await nursery.kernel.processes.wait(pid)).toEqual({ code: 1, reason: 'max_restarts_exceeded' })
    expect(nursery.stopped).toEqual(['a'])
    expect(nursery.kernel.table.list()).toEqual([])
  })

  it('combines the last runs that succeeded, in the order of its children', async () => {
    const nursery = new Nursery()
    const finished: (readonly number[])[] = []
    const pid = await nursery.kernel.spawnSupervisor({
      name: 'team',
      strategy: 'one_for_one',
      children: ['a', 'b', 'c'].map((name) => nursery.child(name, name === 'c' ? 'temporary' : 'transient')),
      finish: async (_process, pids) => {
        finished.push(pids)
        return 'all of it'
      },
    })
    await nursery.expectStarted(['a', 'b', 'c'])
    const supervisor = nursery.kernel.table.get(pid)
    expect(supervisor.spec).toMatchObject({ intent: 'team', provider: '', model: '' })
    nursery.end('c', 1)
    nursery.end('a', 1)
    await nursery.expectStarted(['a', 'b', 'c', 'a'])
    nursery.end('b', 0)
    nursery.end('a', 0)
    expect(await nursery.kernel.processes.wait(pid)).toEqual({ code: 0, reason: 'completed' })
    expect([finished, supervisor.result]).toEqual([[[pid + 4, pid + 2]], 'all of it'])
  })

  it('restarts nobody while it is paused', async () => {
    const nursery = new Nursery()
    const pid = await nursery.run('one_for_one', [nursery.child('a'), nursery.child('b')])
    const { kernel } = nursery
    kernel.processes.kill(pid, 'SIGPAUSE')
    nursery.end('a')
    nursery.end('b')
    await expect.poll(() => kernel.table.list().map((process) => process.pid)).toEqual([pid])
    expect(nursery.started).toEqual(['a', 'b'])
    kernel.processes.kill(pid, 'SIGRESUME')
    await expect.poll(() => nursery.started.length).toBe(4)
    kernel.processes.kill(pid, 'SIGPAUSE')
    kernel.processes.kill(pid, 'SIGTERM')
    expect(await kernel.processes.wait(pid)).toEqual({ code: 1, reason: 'context cancelled while paused' })
    expect(kernel.table.list()).toEqual([])
  })

  it('stops its children in reverse order, and kills those that do not end', async () => {
    const nursery = new Nursery()
    const deaf: ChildSpec = {
      intent: 'deaf',
      options: {
        program: async (process) => {
          nursery.kernel.signals.sigBlock(process.pid, 'SIGTERM')
          nursery.started.push('deaf')
          return until(process.signal)
        },
      },
    }
    const children = [nursery.child('a'), deaf, nursery.child('c')]
    const pid = await nursery.kernel.spawnSupervisor({ strategy: 'one_for_one', children, shutdownMs: 1 })
    await nursery.expectStarted(['a', 'deaf', 'c'])
    nursery.kernel.processes.kill(pid, 'SIGTERM')
    expect(await nursery.kernel.processes.wait(pid)).toMatchObject({ code: 1 })
    expect(nursery.stopped).toEqual(['c', 'a'])
    expect(nursery.kernel.table.list()).toEqual([])
  })
})
