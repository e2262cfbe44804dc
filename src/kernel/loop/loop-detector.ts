/** Number of identical turns in a row that count as a loop. */
const DEFAULT_LIMIT = 4

/** Detects a model that repeats the same action with the same outcome. */
export class LoopDetector {
  readonly #limit: number
  #last = ''
  #count = 0

  constructor(limit: number = DEFAULT_LIMIT) {
    this.#limit = limit
  }

  /** Records a turn and reports whether it completes a loop. */
  isLoop(action: string, outcome: string): boolean {
    const current = JSON.stringify([action, outcome])
    this.#count = current === this.#last ? this.#count + 1 : 1
    this.#last = current
    return this.#count >= this.#limit
  }
}
