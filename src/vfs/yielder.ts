import { nextTurn } from './runtime.ts'

/** Time in milliseconds that work may block the process. */
const MAX_BLOCKING_MS = 8
/** Steps between two reads of the clock, which cost more than a step. */
const STEPS_PER_CLOCK_CHECK = 32 * 1024

/** Lets other work of the process run during long synchronous work, and stops that work on an abort. */
export class Yielder {
  #stepsLeft = STEPS_PER_CLOCK_CHECK
  #since: number = performance.now()

  /** Counts steps, about one per character. Returns true when it is time to yield. */
  shouldYield(steps: number): boolean {
    this.#stepsLeft -= steps
    if (this.#stepsLeft > 0) return false
    this.#stepsLeft = STEPS_PER_CLOCK_CHECK
    return performance.now() - this.#since >= MAX_BLOCKING_MS
  }

  /** Lets other work run. Rejects with the signal's reason if it is aborted. */
  async yield(signal: AbortSignal | undefined): Promise<void> {
    await nextTurn()
    signal?.throwIfAborted()
    this.#since = performance.now()
  }
}
