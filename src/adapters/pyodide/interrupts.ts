import type { PyodideInterface } from 'pyodide'
import { createSharedCells, type SharedCells } from '../threads/index.ts'

const SIGINT = 2
/** The two cells as one number, so that they change together: the lower one is Python's. */
const NONE = 0n
const AWAITED = 1n << 32n
const SENT: bigint = AWAITED | BigInt(SIGINT)

const RESEND_MS = 20
/** About one in forty is lost. */
const MAX_RESENDS = 3

/**
 * Interrupts for an interpreter in another thread, each of which is taken once. Python reads its cell and clears it in
 * two steps, and what is written between them is lost (https://github.com/python/cpython/issues/157548). So a second cell
 * says that an interrupt is awaited until Python tells that it took it, and one that was lost is sent again. Only some
 * times: a program that ignores the signal, or closed the file Python tells it by, takes it and does not tell.
 */
export class Interrupts {
  /** Python's cell for signals, and ours. */
  readonly cells: SharedCells = createSharedCells(2)
  readonly #both = new BigInt64Array(this.cells.buffer)
  readonly #onSent: () => void
  #resending: NodeJS.Timeout | undefined
  #resends = 0

  /** @param sent is called whenever there is something to be seen in the cells. */
  constructor(sent: () => void) {
    this.#onSent = sent
  }

  send(): void {
    this.clear()
    this.#resends = 0
    Atomics.store(this.#both, 0, SENT)
    this.#onSent()
    this.#resending = setInterval(() => this.#resend(), RESEND_MS)
  }

  /** Takes back what was not taken yet. */
  clear(): void {
    clearInterval(this.#resending)
    Atomics.store(this.#both, 0, NONE)
  }

  #resend(): void {
    const isLast = this.#resends === MAX_RESENDS
    const before = Atomics.compareExchange(this.#both, 0, AWAITED, isLast ? NONE : SENT)
    if (before === NONE || (before === AWAITED && isLast)) clearInterval(this.#resending)
    else if (before === AWAITED) {
      this.#resends++
      this.#onSent()
    }
  }
}

const SIGNAL_DEVICE = '/dev/signals'

/**
 * Python writes the number of a signal it takes to this file before it does anything about it, whatever handler the
 * program has. It is the last descriptor there can be: programs count theirs from 3. One that closes all there are is
 * why it may be opened again.
 */
const SIGNAL_REPORTER = `
from os import O_NONBLOCK, O_WRONLY, close, dup2, open, unlink
from signal import set_wakeup_fd

def tell():
    make_device()
    opened = open("${SIGNAL_DEVICE}", O_WRONLY | O_NONBLOCK)
    set_wakeup_fd(dup2(opened, 4095))
    close(opened)
    unlink("${SIGNAL_DEVICE}")

def tell_still():
    try:
        set_wakeup_fd(4095)
    except OSError:
        tell()

tell()
tell_still
`

/**
 * Has an interpreter of this thread take the interrupts of these cells. What it returns is to be called before each
 * program: the one before may have seen to it that Python does not tell of them any more.
 */
export function installInterrupts(pyodide: PyodideInterface, cells: SharedCells): () => void {
  const both = new BigInt64Array(cells.buffer)
  const acknowledge = (signal: number) => {
    // One that was sent again meanwhile is taken back: a second interrupt would hit what the first one left to be done.
    if (signal === SIGINT) Atomics.store(both, 0, NONE)
  }
  const make_device = () => {
    // An interrupt may have left the one before.
    if (pyodide.FS.analyzePath(SIGNAL_DEVICE).exists) pyodide.FS.unlink(SIGNAL_DEVICE)
    pyodide.FS.createDevice('/dev', 'signals', null, acknowledge)
  }
  const tellStill = pyodide.runPython(SIGNAL_REPORTER, { globals: pyodide.toPy({ make_device }) })
  pyodide.setInterruptBuffer(cells)
  return tellStill
}
