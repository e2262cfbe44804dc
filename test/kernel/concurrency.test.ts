import { describe, expect, it } from 'vitest'
import { scene, until } from '../support/scripted-kernel.ts'

async function waiting() {
  const { kernel } = scene((_request, signal) => until(signal))
  return { kernel, pid: await kernel.processes.spawn('wait') }
}

describe('children', () => {
  it('of an ended process belong to the kernel, and ended ones are reaped', async () => {
    const { kernel, pid: parent } = await waiting()
    const running = await kernel.processes.spawn('runs', { parent })
    const ended = await kernel.processes.spawn('ends', {
      parent,
      program: async () => ({ code: 0, reason: 'completed' }),
    })
    const zombie = kernel.table.get(ended)
    await zombie.done
    kernel.processes.kill(parent, 'SIGKILL')
    await kernel.processes.wait(parent)
    expect(kernel.table.get(running).ppid).toBe(0)
    await expect.poll(() => zombie.state).toBe('dead')
    await expect(kernel.processes.spawn('late', { parent })).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('threads', () => {
  it('share the context of their process and return results', async () => {
    const { kernel, pid } = await waiting()
    const { contextId } = kernel.table.get(pid)
    const tids = [1, 2, 3].map((number) =>
      kernel.threads.spawnThread(pid, `part ${number}`, async () => {
        kernel.contexts.appendMessage(contextId, 'user', `from ${number}`)
        if (number === 3) throw new Error('no')
        return `result ${number}`
      }),
    )
    const threads = await Promise.all(tids.map((tid) => kernel.threads.joinThread(pid, tid)))
    expect(threads.map(({ state, result, error }) => [state, result, error])).toEqual([
      ['done', 'result 1', undefined],
      ['done', 'result 2', undefined],
      ['failed', '', 'no'],
    ])
    expect(kernel.contexts.buildPrompt(contextId).messages).toHaveLength(4)
    await expect(kernel.threads.joinThread(pid, 99)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('die with their process', async () => {
    const { kernel, pid } = await waiting()
    const tid = kernel.threads.spawnThread(pid, 'wait', (signal) => until(signal))
    const joined = kernel.threads.joinThread(pid, tid)
    kernel.processes.kill(pid, 'SIGKILL')
    await kernel.processes.wait(pid)
    expect(await joined).toMatchObject({ state: 'failed', error: 'SIGKILL' })
    expect(kernel.threads.threads(pid)).toEqual([])
  })
})

describe('coroutines', () => {
  it('exchange values until they are done', async () => {
    const { kernel, pid } = await waiting()
    const coid = kernel.coroutines.spawnCoroutine(pid, async function* () {
      const first = yield 'a'
      const second = yield `b${first}`
      return `c${second}`
    })
    expect(await kernel.coroutines.resume(pid, coid)).toEqual({ value: 'a', isDone: false })
    expect(await kernel.coroutines.resume(pid, coid, 1)).toEqual({ value: 'b1', isDone: false })
    expect(await kernel.coroutines.resume(pid, coid, 2)).toEqual({ value: 'c2', isDone: true })
    await expect(kernel.coroutines.resume(pid, coid)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('clean up when their process ends', async () => {
    const { kernel, pid } = await waiting()
    const ends: string[] = []
    const waits = async function* (name: string) {
      try {
        yield 1
        yield 2
      } finally {
        ends.push(name)
      }
    }
    const started = kernel.coroutines.spawnCoroutine(pid, () => waits('started'))
    kernel.coroutines.spawnCoroutine(pid, () => waits('untouched'))
    await kernel.coroutines.resume(pid, started)
    kernel.processes.kill(pid, 'SIGKILL')
    await kernel.processes.wait(pid)
    expect(ends).toEqual(['started'])
  })
})
