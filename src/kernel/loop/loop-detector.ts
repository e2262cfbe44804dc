/** Number of identical turns in a row that count as a loop. */
const DEFAULT_LIMIT = 4

/** Detects a model that repeats the same action with the same outcome. */
export class LoopDetector {
  readonly #limit: number
  #lastAction = ''
  #lastOutcome = ''
  #count = 0

  constructor(limit: number = DEFAULT_LIMIT) {
    this.#limit = limit
  }

  /** Records a turn and reports whether it completes a loop. */
  recordTurn(action: string, outcome: string): boolean {
    const isSame = action === this.#lastAction && outcome === this.#lastOutcome
    this.#count = isSame ? this.#count + 1 : 1
    this.#lastAction = action
    this.#lastOutcome = outcome
    return this.#count >= this.#limit
  }
}
