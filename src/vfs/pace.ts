import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long work may hold up everything else of the process. */
const TURN_MS = 8
/** The clock is looked at once in so many steps: that takes longer than a step. */
const STEPS_UNSEEN = 32 * 1024

/** Lets other work of the process run in the middle of much synchronous work, and stops it when asked to. */
export class Pace {
  #left = STEPS_UNSEEN
  #since: number = performance.now()

  /** Counts steps, a character looked at being about one; whether it is time for a turn of the others. */
  isOver(steps: number): boolean {
    this.#left -= steps
    if (this.#left > 0) return false
    this.#left = STEPS_UNSEEN
    return performance.now() - this.#since >= TURN_MS
  }

  /** Lets the others run. Rejects with the signal's reason if that is aborted. */
  async turn(signal: AbortSignal | undefined): Promise<void> {
    await nextTurn()
    signal?.throwIfAborted()
    this.#since = performance.now()
  }
}
