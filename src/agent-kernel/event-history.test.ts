import { channel } from 'node:diagnostics_channel'
import { describe, expect, it } from 'vitest'
import { type KernelEvent, Redactor } from '../kernel/index.ts'
import { EventHistory } from './event-history.ts'

const never = new AbortController().signal
const publishEvent = (event: KernelEvent) => channel('coppice:kernel').publish(event)

describe('the history of events', () => {
  it('has the events of every running process, and of the last 200 that ended', () => {
    using events = new EventHistory(new Redactor())
    const pids = Array.from({ length: 500 }, (_, index) => index + 1)
    for (const pid of pids) publishEvent({ kind: 'running', pid, elapsed: 0 })
    expect(pids.filter((pid) => events.has(pid))).toEqual(pids)
    for (const pid of pids) publishEvent({ kind: 'reap', pid, elapsed: 1, step: 'removed' })
    expect(pids.filter((pid) => events.has(pid))).toEqual(pids.slice(-200))
  })

  it('shows no secret, also one that became known later', async () => {
    const redactor = new Redactor()
    using events = new EventHistory(redactor)
    publishEvent({ kind: 'log', pid: 1, elapsed: 0, text: 'uses hush-hush-hush' })
    publishEvent({
      kind: 'syscall',
      pid: 1,
      elapsed: 0,
      call: 'write',
      args: [3, Buffer.from('hush-hush-hush')],
      duration: 1,
    })
    redactor.addSecrets(['hush-hush-hush'])
    const lines = [
      ...(await Array.fromAsync(events.logs(1, false, never))),
      ...(await Array.fromAsync(events.trace(1, false, never))),
    ]
    expect(JSON.stringify(lines)).not.toContain('hush-hush-hush')
    expect(JSON.stringify(lines)).toContain('uses [redacted]')
    expect(lines.at(-1)).toMatchObject({ call: 'write', args: ['3', '"[redacted]" (14 bytes)'] })
  })
})
