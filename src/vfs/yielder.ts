import { setImmediate as nextTurn } from 'node:timers/promises'

/** Time in milliseconds that work may block the process. */
const MAX_BLOCKING_MS = 8
/** The clock is looked at once in so many steps: that takes longer than a step. */
const STEPS_PER_CLOCK_CHECK = 32 * 1024

/** Lets other work of the process run in the middle of much synchronous work, and stops it when asked to. */
export class Yielder {
  #stepsLeft = STEPS_PER_CLOCK_CHECK
  #since: number = performance.now()

  /** Counts steps, a character looked at being about one; whether it is time for a turn of the others. */
  shouldYield(steps: number): boolean {
    this.#stepsLeft -= steps
    if (this.#stepsLeft > 0) return false
    this.#stepsLeft = STEPS_PER_CLOCK_CHECK
    return performance.now() - this.#since >= MAX_BLOCKING_MS
  }

  /** Lets the others run. Rejects with the signal's reason if that is aborted. */
  async yield(signal: AbortSignal | undefined): Promise<void> {
    await nextTurn()
    signal?.throwIfAborted()
    this.#since = performance.now()
  }
}
