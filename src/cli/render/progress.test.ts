import { Writable } from 'node:stream'
import { afterEach, expect, it, vi } from 'vitest'
import { withProgress } from './progress.ts'

afterEach(() => void vi.useRealTimers())

it('never prints a progress line wider than the screen', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const drawn: string[] = []
  const write = (chunk: Buffer, _encoding: string, done: () => void) => {
    drawn.push(String(chunk))
    done()
  }
  const err = Object.assign(new Writable({ write }), { columns: 20 })
  const { signal } = new AbortController()
  const terminal = { isInteractive: true, showsProgress: true, canAsk: false, signal }
  await withProgress({ in: process.stdin, out: err, err, ...terminal }, 'import', 'file', async (report) => {
    vi.advanceTimersByTime(1000)
    report({ done: 12_345, total: 67_890, bytes: 1_000_000 })
  })
  const lines = drawn.map((text) => text.replaceAll(/^\r.\[K/g, ''))
  expect(lines).toEqual([expect.stringMatching(/^import █+░+$/), ''])
  expect(lines[0]?.length).toBe(19)
})
