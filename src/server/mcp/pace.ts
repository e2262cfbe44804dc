/**
 * Runs an action at once, and again at most once an interval however often it is asked for.
 * The last wish is never lost: it is done when the interval is over, unless the pace is stopped before.
 */
export class Pace {
  readonly #action: () => void
  readonly #intervalMs: number
  #timer: NodeJS.Timeout | undefined
  #isWanted = false
  #isStopped = false

  constructor(intervalMs: number, action: () => void) {
    this.#intervalMs = intervalMs
    this.#action = action
  }

  ask(): void {
    if (this.#isStopped) return
    if (this.#timer !== undefined) {
      this.#isWanted = true
      return
    }
    this.#action()
    this.#rest()
  }

  /** Does now what is still wanted, and nothing after that. */
  finish(): void {
    if (this.#isWanted && !this.#isStopped) this.#action()
    this.stop()
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #rest(): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (!this.#isWanted) return
      this.#isWanted = false
      this.ask()
    }, this.#intervalMs)
    // A notice alone must not keep the process alive.
    this.#timer.unref()
  }
}
