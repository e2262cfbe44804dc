import { expect, it } from 'vitest'
import { O_RDWR } from '../../src/kernel/index.ts'
import { call, scene } from '../support/scripted-kernel.ts'

it('a thousand concurrent processes with fifty open files each leave none open', async () => {
  const opened: number[] = []
  const { kernel, closed } = scene(({ messages }) =>
    messages.length < 5 ? call('echo', messages.length) : 'done',
  )
  const echo = kernel.devices.resolve('/dev/echo').device
  kernel.devices.register('/dev/counted', {
    match: 'exact',
    open: async (...args) => {
      const file = await echo.open(...args)
      const number = opened.push(0) - 1
      const close = async () => {
        opened[number] = (opened[number] ?? 0) + 1
        await file.close()
      }
      return {
        read: (length) => file.read(length),
        write: (data) => file.write(data),
        stat: () => file.stat(),
        close,
      }
    },
  })
  const spawnOne = async () => {
    const pid = await kernel.processes.spawn('work')
    for (let i = 0; i < 50; i++) await kernel.files.open(pid, '/dev/counted', O_RDWR).catch(() => {})
    return pid
  }
  const pids = await Promise.all(Array.from({ length: 1000 }, spawnOne))
  const exits = await Promise.all(pids.map((pid) => kernel.processes.wait(pid)))
  expect(new Set(exits.map(({ code }) => code))).toEqual(new Set([0]))
  expect(new Set(pids).size).toBe(1000)
  expect(opened.length).toBeGreaterThan(1000)
  expect(new Set(opened)).toEqual(new Set([1]))
  expect([kernel.table.list(), kernel.contexts.count, closed.length]).toEqual([[], 0, 1000])
})
