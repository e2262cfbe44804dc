import type { PyodideInterface } from 'pyodide'
import { createSharedCells, type SharedCells } from '../threads/index.ts'

const SIGINT = 2
// Both cells as one number, so that they change together: the lower one is Python's.
const NONE = 0n
/** Sent, and not acknowledged: Python has read the signal, or lost it. */
const AWAITED = 1n << 32n
/** Sent, and not read by Python. */
const SENT: bigint = AWAITED | BigInt(SIGINT)

const RESEND_MS = 20
/** Limit of resends; about one interrupt in forty is lost. */
const MAX_RESENDS = 3

/**
 * Delivers interrupts to an interpreter in another thread, each once. Python reads its cell and clears it in
 * two steps, and a write between them is lost (https://github.com/python/cpython/issues/157548). So a second cell marks
 * a pending interrupt until Python acknowledges it, and a lost one is sent again. The resends are
 * limited: a program that ignores the signal, or closed the file for acknowledgements, never acknowledges.
 */
export class Interrupts {
  /** Python's cell for signals, and the one that marks a pending interrupt. */
  readonly cells: SharedCells = createSharedCells(2)
  readonly #cellPair = new BigInt64Array(this.cells.buffer)
  readonly #onSent: () => void
  #resendTimer: NodeJS.Timeout | undefined
  #resendCount = 0

  /** @param onSent called whenever an interrupt was sent, also again. */
  constructor(onSent: () => void) {
    this.#onSent = onSent
  }

  send(): void {
    this.clear()
    this.#resendCount = 0
    Atomics.store(this.#cellPair, 0, SENT)
    this.#onSent()
    this.#resendTimer = setInterval(() => this.#resend(), RESEND_MS)
  }

  /** Withdraws a pending interrupt. */
  clear(): void {
    clearInterval(this.#resendTimer)
    Atomics.store(this.#cellPair, 0, NONE)
  }

  #resend(): void {
    const isLast = this.#resendCount === MAX_RESENDS
    const before = Atomics.compareExchange(this.#cellPair, 0, AWAITED, isLast ? NONE : SENT)
    if (before === NONE || (before === AWAITED && isLast)) clearInterval(this.#resendTimer)
    else if (before === AWAITED) {
      this.#resendCount++
      this.#onSent()
    }
  }
}

const SIGNAL_DEVICE = '/dev/signals'

/**
 * Python code that opens the device as the file to which Python writes the number of each received signal, before it
 * runs a handler. It uses the highest possible descriptor: programs count theirs from 3. The returned function opens
 * the device again if a program closed it.
 */
const SIGNAL_REPORTER = `
from os import O_NONBLOCK, O_WRONLY, close, dup2, open, unlink
from signal import set_wakeup_fd

def report():
    make_device()
    opened = open("${SIGNAL_DEVICE}", O_WRONLY | O_NONBLOCK)
    set_wakeup_fd(dup2(opened, 4095))
    close(opened)
    unlink("${SIGNAL_DEVICE}")

def ensure_reporting():
    try:
        set_wakeup_fd(4095)
    except OSError:
        report()

report()
ensure_reporting
`

/**
 * Connects an interpreter of this thread to the cells. Call the returned function before each
 * program: the previous one may have disabled the acknowledgements.
 */
export function installInterrupts(pyodide: PyodideInterface, cells: SharedCells): () => void {
  const cellPair = new BigInt64Array(cells.buffer)
  const acknowledge = (signal: number) => {
    // Withdraw a resend: a second interrupt would hit the handler of the first.
    if (signal === SIGINT) Atomics.store(cellPair, 0, NONE)
  }
  const make_device = () => {
    // An interrupt may have left the previous device.
    if (pyodide.FS.analyzePath(SIGNAL_DEVICE).exists) pyodide.FS.unlink(SIGNAL_DEVICE)
    pyodide.FS.createDevice('/dev', 'signals', null, acknowledge)
  }
  const ensureReporting = pyodide.runPython(SIGNAL_REPORTER, { globals: pyodide.toPy({ make_device }) })
  pyodide.setInterruptBuffer(cells)
  return ensureReporting
}
