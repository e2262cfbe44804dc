import { describe, expect, it } from 'vitest'
import type { Signal } from '../../src/kernel/index.ts'
import { call, scene, until } from '../support/scripted-kernel.ts'

/** A process that waits until a signal ends it. */
async function waiting(count = 1) {
  const { kernel } = scene((_request, signal) => until(signal))
  const pids: number[] = []
  for (let i = 0; i < count; i++) pids.push(await kernel.processes.spawn('wait'))
  const [pid = 0] = pids
  return { kernel, pid, pids }
}

describe('signals', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)('%s ends a process', async (signal) => {
    const { kernel, pid } = await waiting()
    kernel.processes.kill(pid, signal)
    expect(await kernel.processes.wait(pid)).toEqual({ code: 1, reason: `killed: ${signal}` })
  })

  it('wait while blocked until they are unblocked', async () => {
    const { kernel, pid } = await waiting()
    kernel.signals.sigBlock(pid, 'SIGTERM')
    kernel.processes.kill(pid, 'SIGTERM')
    kernel.processes.kill(pid, 'SIGTERM')
    expect(kernel.table.get(pid).signals.pending).toEqual(['SIGTERM'])
    expect(kernel.table.get(pid).state).toBe('running')
    kernel.signals.sigUnblock(pid, 'SIGTERM')
    expect(await kernel.processes.wait(pid)).toMatchObject({ reason: 'killed: SIGTERM' })
  })

  it('go to their handler, also after they were blocked', async () => {
    const { kernel, pid } = await waiting()
    const heard: Signal[] = []
    kernel.signals.sigHandle(pid, 'SIGINT', (signal) => heard.push(signal))
    kernel.processes.kill(pid, 'SIGINT')
    kernel.signals.sigBlock(pid, 'SIGINT')
    kernel.processes.kill(pid, 'SIGINT')
    expect(heard).toEqual(['SIGINT'])
    kernel.signals.sigUnblock(pid, 'SIGINT')
    expect(heard).toEqual(['SIGINT', 'SIGINT'])
    expect(kernel.table.get(pid).state).toBe('running')
  })

  it('cannot block or handle SIGKILL', async () => {
    const { kernel, pid } = await waiting()
    expect(() => kernel.signals.sigBlock(pid, 'SIGKILL')).toThrow('EINVAL')
    expect(() => kernel.signals.sigHandle(pid, 'SIGKILL', () => {})).toThrow('EINVAL')
  })

  it('pause a process at its next step, and its clock with it', async () => {
    const steps: number[] = []
    let pause = () => {}
    const { kernel } = scene(
      () => {
        pause()
        return steps.length < 3 ? call('echo', steps.length) : 'done'
      },
      { callbacks: { onStep: (_pid, step) => void steps.push(step) } },
    )
    const pid = await kernel.processes.spawn('work')
    pause = () => kernel.signals.signal(pid, 'SIGPAUSE')
    const process = kernel.table.get(pid)
    await expect.poll(() => process.isPaused).toBe(true)
    const before = process.elapsed
    await new Promise((resolve) => setImmediate(resolve))
    expect(process.elapsed).toBe(before)
    const seen = steps.length
    pause = () => {}
    kernel.signals.signal(pid, 'SIGRESUME')
    expect(await kernel.processes.wait(pid)).toMatchObject({ code: 0 })
    expect(steps.length).toBeGreaterThan(seen)
  })

  it('to a group reach every running member', async () => {
    const { kernel, pids } = await waiting(3)
    for (const pid of pids) kernel.groups.joinGroup(pid, 'team')
    const [first = 0, ...others] = pids
    kernel.processes.kill(first, 'SIGKILL')
    await kernel.processes.wait(first)
    expect(kernel.groups.getProcGroup('team')).toEqual(others)
    kernel.groups.signalGroup('team', 'SIGTERM')
    for (const pid of others) expect(await kernel.processes.wait(pid)).toMatchObject({ code: 1 })
    expect(() => kernel.groups.getProcGroup('team')).toThrow('ENOENT')
  })

  it('to a group reach members from their start on, and the children of members', async () => {
    const { kernel, pid: other } = await waiting()
    const parent = await kernel.processes.spawn('wait', { groups: ['team', 'night'] })
    const child = await kernel.processes.spawn('wait', { parent, groups: ['checks'] })
    expect(kernel.groups.getProcGroup('team')).toEqual([parent, child])
    expect(kernel.groups.getProcGroup('checks')).toEqual([child])
    kernel.groups.signalGroup('night', 'SIGTERM')
    for (const pid of [parent, child]) expect(await kernel.processes.wait(pid)).toMatchObject({ code: 1 })
    expect(kernel.table.get(other).state).toBe('running')
    kernel.processes.kill(other, 'SIGKILL')
  })

  it('to an ended process are refused', async () => {
    const { kernel, pid } = await waiting()
    kernel.processes.kill(pid, 'SIGKILL')
    await kernel.table.get(pid).done
    expect(() => kernel.processes.kill(pid, 'SIGTERM')).toThrow('ENOENT')
    expect(() => kernel.processes.kill(99, 'SIGTERM')).toThrow('ENOENT')
  })
})
