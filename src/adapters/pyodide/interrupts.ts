import type { PyodideInterface } from 'pyodide'
import { type SharedCells, sharedCells } from '../threads/index.ts'

const SIGINT = 2
/** The two cells as one number, so that they change together: the lower one is Python's. */
const NONE = 0n
const AWAITED = 1n << 32n
const SENT: bigint = AWAITED | BigInt(SIGINT)

const RESEND_MS = 20

/**
 * Interrupts for an interpreter in another thread, each of which is taken once. Python reads its cell and clears it in
 * two steps, and what is written between them is lost (https://github.com/python/cpython/issues/157548). So a second cell
 * says that an interrupt is awaited until Python tells that it took it, and one that was lost is sent again.
 */
export class Interrupts {
  /** Python's cell for signals, and ours. */
  readonly cells: SharedCells = sharedCells(2)
  readonly #both = new BigInt64Array(this.cells.buffer)
  readonly #sent: () => void
  #resending: NodeJS.Timeout | undefined

  /** @param sent is called whenever there is something to be seen in the cells. */
  constructor(sent: () => void) {
    this.#sent = sent
  }

  send(): void {
    this.clear()
    Atomics.store(this.#both, 0, SENT)
    this.#sent()
    this.#resending = setInterval(() => this.#resend(), RESEND_MS)
  }

  /** Takes back what was not taken yet. */
  clear(): void {
    clearInterval(this.#resending)
    Atomics.store(this.#both, 0, NONE)
  }

  #resend(): void {
    const before = Atomics.compareExchange(this.#both, 0, AWAITED, SENT)
    if (before === AWAITED) this.#sent()
    else if (before === NONE) clearInterval(this.#resending)
  }
}

/**
 * Python writes the number of a signal it takes to this file before it does anything about it, whatever handler the
 * program has. It is the last descriptor there can be: programs count theirs from 3.
 */
const TELL_OF_SIGNALS = `
import os, signal
opened = os.open("/dev/signals", os.O_WRONLY | os.O_NONBLOCK)
signal.set_wakeup_fd(os.dup2(opened, 4095))
os.close(opened)
os.unlink("/dev/signals")
`

/** Has an interpreter of this thread take the interrupts of these cells. */
export function takeInterrupts(pyodide: PyodideInterface, cells: SharedCells): void {
  const both = new BigInt64Array(cells.buffer)
  pyodide.FS.createDevice('/dev', 'signals', null, (signal: number) => {
    // One that was sent again meanwhile is taken back: a second interrupt would hit what the first one left to be done.
    if (signal === SIGINT) Atomics.store(both, 0, NONE)
  })
  pyodide.runPython(TELL_OF_SIGNALS, { globals: pyodide.toPy({}) })
  pyodide.setInterruptBuffer(cells)
}
