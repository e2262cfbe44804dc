import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Pace } from './pace.ts'

const INTERVAL_MS = 100

describe('a pace', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('acts at once, and then once an interval, however often it is asked', () => {
    const action = vi.fn()
    const pace = new Pace(INTERVAL_MS, action)
    for (let asked = 0; asked < 10; asked++) pace.ask()
    expect(action).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(INTERVAL_MS)
    expect(action).toHaveBeenCalledTimes(2)
    vi.advanceTimersByTime(10 * INTERVAL_MS)
    expect(action).toHaveBeenCalledTimes(2)
    pace.ask()
    expect(action).toHaveBeenCalledTimes(3)
  })

  it('does nothing more once it is stopped, and what was still wanted if it is finished', () => {
    const action = vi.fn()
    const [stopped, finished] = [new Pace(INTERVAL_MS, action), new Pace(INTERVAL_MS, action)]
    for (const pace of [stopped, stopped, finished, finished]) pace.ask()
    expect(action).toHaveBeenCalledTimes(2)
    stopped.stop()
    finished.finish()
    expect(action).toHaveBeenCalledTimes(3)
    for (const pace of [stopped, finished]) pace.ask()
    vi.advanceTimersByTime(10 * INTERVAL_MS)
    expect(action).toHaveBeenCalledTimes(3)
  })
})
