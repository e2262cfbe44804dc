import { loadPyodide } from 'pyodide'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Interrupts, takeInterrupts } from './interrupts.ts'

const pyodide = await loadPyodide()
pyodide.runPython('import signal')
afterEach(() => void vi.useRealTimers())

const LOST = [0, 1]
const TAKEN = [0, 0]

describe('an interrupt', () => {
  it('is sent again if Python clears it unread, until it is taken', () => {
    vi.useFakeTimers()
    const sent = vi.fn()
    const interrupts = new Interrupts(sent)
    const cells = () => Array.from(interrupts.cells)
    takeInterrupts(pyodide, interrupts.cells)
    interrupts.send()
    interrupts.cells[0] = 0
    pyodide.runPython('signal.signal(signal.SIGUSR1, lambda *_: None)\nsignal.raise_signal(signal.SIGUSR1)')
    expect(cells(), 'another signal was taken').toEqual(LOST)
    vi.runOnlyPendingTimers()
    expect(sent).toHaveBeenCalledTimes(2)
    vi.runOnlyPendingTimers()
    expect(sent, 'there is one already').toHaveBeenCalledTimes(2)
    expect(() => pyodide.runPython('while True: pass')).toThrow('KeyboardInterrupt')
    expect(cells()).toEqual(TAKEN)
    vi.runOnlyPendingTimers()
    expect(cells()).toEqual(TAKEN)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is taken by a handler of the program as well, and can be taken back', () => {
    const interrupts = new Interrupts(() => {})
    takeInterrupts(pyodide, interrupts.cells)
    pyodide.runPython('taken = []\nsignal.signal(signal.SIGINT, lambda *_: taken.append(1))')
    interrupts.send()
    expect(pyodide.runPython('while not taken: pass\nlen(taken)')).toBe(1)
    expect(Array.from(interrupts.cells)).toEqual(TAKEN)
    interrupts.send()
    interrupts.clear()
    expect(pyodide.runPython('for _ in range(1000): pass\nlen(taken)')).toBe(1)
  })
})
