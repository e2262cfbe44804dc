import { loadPyodide } from 'pyodide'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Interrupts, installInterrupts } from './interrupts.ts'

const pyodide = await loadPyodide()
pyodide.runPython('import signal')
// Where Python cannot tell that it took a signal, it says so there.
pyodide.setStderr({ batched: () => {} })
afterEach(() => void vi.useRealTimers())

const LOST = [0, 1]
const TAKEN = [0, 0]

describe('an interrupt', () => {
  it('is sent again if Python clears it unread, until it is received', () => {
    vi.useFakeTimers()
    const sent = vi.fn()
    const interrupts = new Interrupts(sent)
    const cells = () => Array.from(interrupts.cells)
    installInterrupts(pyodide, interrupts.cells)
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

  it('reaches a handler of the program, and can be withdrawn', () => {
    const interrupts = new Interrupts(() => {})
    installInterrupts(pyodide, interrupts.cells)
    pyodide.runPython('taken = []\nsignal.signal(signal.SIGINT, lambda *_: taken.append(1))')
    interrupts.send()
    expect(pyodide.runPython('while not taken: pass\nlen(taken)')).toBe(1)
    expect(Array.from(interrupts.cells)).toEqual(TAKEN)
    interrupts.send()
    interrupts.clear()
    expect(pyodide.runPython('for _ in range(1000): pass\nlen(taken)')).toBe(1)
  })

  it.each(['signal.set_wakeup_fd(-1)', 'import os\nos.closerange(3, 5000)'])(
    'is sent four times at most if Python does not acknowledge it, after %s',
    (program) => {
      vi.useFakeTimers()
      const sent = vi.fn()
      const interrupts = new Interrupts(sent)
      const ensureReporting = installInterrupts(pyodide, interrupts.cells)
      const count = 'taken = []\nsignal.signal(signal.SIGINT, lambda *_: taken.append(1))'
      pyodide.runPython(`${count}\n${program}`)
      const takenOf = (most: number) => {
        for (let turn = 0; turn < most; turn++) {
          pyodide.runPython('for _ in range(1000): pass')
          vi.runOnlyPendingTimers()
        }
        return pyodide.runPython('len(taken)')
      }
      interrupts.send()
      expect(takenOf(20)).toBe(4)
      expect(sent).toHaveBeenCalledTimes(4)
      expect(Array.from(interrupts.cells)).toEqual(TAKEN)
      expect(vi.getTimerCount()).toBe(0)
      ensureReporting()
      interrupts.send()
      expect(takenOf(20), 'the next program has it again').toBe(5)
    },
  )

  it('is acknowledged again even if an interrupt left the device half created', () => {
    const interrupts = new Interrupts(() => {})
    const ensureReporting = installInterrupts(pyodide, interrupts.cells)
    pyodide.FS.createDevice('/dev', 'signals', null, () => {})
    pyodide.runPython('import os\nos.close(4095)\nsignal.signal(signal.SIGINT, signal.default_int_handler)')
    ensureReporting()
    interrupts.send()
    expect(() => pyodide.runPython('while True: pass')).toThrow('KeyboardInterrupt')
    expect(Array.from(interrupts.cells)).toEqual(TAKEN)
    expect(pyodide.runPython('os.path.exists("/dev/signals")')).toBe(false)
    interrupts.clear()
  })
})
