import { expect, it } from 'vitest'
import { HeartbeatMonitor } from '../../src/kernel/process/heartbeat-monitor.ts'
import { scene, until } from '../support/scripted-kernel.ts'

const HOUR_MS = 3_600_000

it('a process without an event for a time is stalled until its next one, and a paused one is not', async () => {
  const asked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let requests = 0
  const { kernel } = scene((_request, signal) => {
    asked[requests++]?.resolve()
    return until(signal)
  })
  using monitor = new HeartbeatMonitor(kernel.table, HOUR_MS)
  const [silent, paused] = [await kernel.processes.spawn('silent'), await kernel.processes.spawn('paused')]
  await Promise.all(asked.map(({ promise }) => promise))
  kernel.signals.signal(paused, 'SIGPAUSE')
  const isStalled = () => [silent, paused].map((pid) => kernel.table.get(pid).isStalled)
  monitor.check(performance.now())
  expect(isStalled()).toEqual([false, false])
  monitor.check(performance.now() + HOUR_MS + 1)
  expect(isStalled()).toEqual([true, false])
  kernel.table.get(silent).emit({ kind: 'log', text: 'here' })
  expect(isStalled()).toEqual([false, false])
})

it('a process that waits for a child at work is not stalled', async () => {
  const asked = Promise.withResolvers<void>()
  const { kernel } = scene((_request, signal) => {
    asked.resolve()
    return until(signal)
  })
  using monitor = new HeartbeatMonitor(kernel.table, HOUR_MS)
  const supervisor = await kernel.spawnSupervisor({ strategy: 'one_for_one', children: [{ intent: 'work' }] })
  await asked.promise
  const [child = 0] = kernel.table.get(supervisor).children
  const isStalled = () => [supervisor, child].map((pid) => kernel.table.get(pid).isStalled)
  kernel.signals.signal(child, 'SIGPAUSE')
  monitor.check(performance.now() + HOUR_MS + 1)
  expect(isStalled()).toEqual([false, false])
  kernel.signals.signal(child, 'SIGRESUME')
  monitor.check(performance.now() + HOUR_MS + 1)
  expect(isStalled()).toEqual([true, true])
})
