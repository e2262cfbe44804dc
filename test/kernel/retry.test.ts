import { describe, expect, it } from 'vitest'
import { BusyError, type Kernel, type Process } from '../../src/kernel/index.ts'
import { VfsError } from '../../src/vfs/index.ts'
import { type Say, scene } from '../support/scripted-kernel.ts'

const busy = (retryAfterMs: number) =>
  new BusyError('/dev/llm/test', retryAfterMs, { op: 'write', detail: 'too many requests' })

/** A model that fails with these errors before it answers. */
function failing(...errors: Error[]): { readonly say: Say; readonly requests: () => number } {
  let requests = 0
  const say: Say = () => {
    const error = errors[requests++]
    if (error !== undefined) throw error
    return 'done'
  }
  return { say, requests: () => requests }
}

function start(say: Say, retryMs: number): Kernel {
  return scene(say, { defaults: { provider: 'test', retryMs } }).kernel
}

const isPaused = (process: Process) => expect.poll(() => process.isPaused).toBe(true)

describe('a model that is busy', () => {
  it('is asked again after the time that it names', async () => {
    const { say, requests } = failing(busy(0), busy(0))
    const { processes } = start(say, 60_000)
    expect(await processes.wait(await processes.spawn('work'))).toEqual({ code: 0, reason: 'completed' })
    expect(requests()).toBe(3)
  })

  it('pauses the process once the time for attempts is over, and goes on when it is resumed', async () => {
    const { say } = failing(busy(3_600_000), busy(3_600_000))
    const kernel = start(say, 60_000)
    const pid = await kernel.processes.spawn('work')
    const process = kernel.table.get(pid)
    for (let round = 0; round < 2; round++) {
      await isPaused(process)
      expect(process.pauseReason).toMatch(/^test failed: EUNAVAILABLE: too many requests/)
      kernel.signals.signal(pid, 'SIGRESUME')
    }
    expect(await kernel.processes.wait(pid)).toEqual({ code: 0, reason: 'completed' })
  })

  it('ends a process that is killed while it waits or is paused', async () => {
    const { say } = failing(busy(3_600_000))
    const kernel = start(say, 60_000)
    const pid = await kernel.processes.spawn('work')
    await isPaused(kernel.table.get(pid))
    kernel.signals.signal(pid, 'SIGKILL')
    expect(await kernel.processes.wait(pid)).toEqual({ code: 1, reason: 'killed: SIGKILL' })
  })

  it('ends the process at once without a time for attempts, and for a failure that stays', async () => {
    const refused = new VfsError('EACCES', '/dev/llm/test', { detail: 'the API key was refused' })
    const { processes } = start(failing(busy(0)).say, 0)
    expect(await processes.wait(await processes.spawn('work'))).toMatchObject({ code: 1 })
    const other = start(failing(refused).say, 60_000)
    const exit = await other.processes.wait(await other.processes.spawn('work'))
    expect(exit).toMatchObject({ code: 1, reason: expect.stringContaining('the API key was refused') })
  })
})
