import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Throttle } from './throttle.ts'

const INTERVAL_MS = 100

describe('a throttle', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('runs at once, and then once an interval however often it is requested', async () => {
    const action = vi.fn(async () => {})
    const pace = new Throttle(INTERVAL_MS, action)
    for (let asked = 0; asked < 10; asked++) pace.request()
    expect(action).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(INTERVAL_MS)
    expect(action).toHaveBeenCalledTimes(2)
    await vi.advanceTimersByTimeAsync(10 * INTERVAL_MS)
    expect(action).toHaveBeenCalledTimes(2)
    pace.request()
    expect(action).toHaveBeenCalledTimes(3)
  })

  it('does not run concurrently, and runs again for the last request', async () => {
    const sent = Promise.withResolvers<void>()
    const action = vi.fn(() => sent.promise)
    const pace = new Throttle(INTERVAL_MS, action)
    for (let interval = 0; interval < 10; interval++) {
      pace.request()
      await vi.advanceTimersByTimeAsync(INTERVAL_MS)
    }
    expect(action).toHaveBeenCalledTimes(1)
    sent.resolve()
    await vi.advanceTimersByTimeAsync(INTERVAL_MS)
    expect(action).toHaveBeenCalledTimes(2)
  })

  it('runs nothing after a stop, and the pending request on a flush', async () => {
    const action = vi.fn(async () => {})
    const [stopped, finished] = [new Throttle(INTERVAL_MS, action), new Throttle(INTERVAL_MS, action)]
    for (const pace of [stopped, stopped, finished, finished]) pace.request()
    expect(action).toHaveBeenCalledTimes(2)
    stopped.stop()
    finished.flush()
    expect(action).toHaveBeenCalledTimes(3)
    for (const pace of [stopped, finished]) pace.request()
    await vi.advanceTimersByTimeAsync(10 * INTERVAL_MS)
    expect(action).toHaveBeenCalledTimes(3)
  })
})
