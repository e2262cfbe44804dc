/** The same action so often in a row is a loop. */
const DEFAULT_LIMIT = 4

/** Notices a model that does the same thing again and again, and gets the same for it. */
export class LoopDetector {
  readonly #limit: number
  #last = ''
  #count = 0

  constructor(limit: number = DEFAULT_LIMIT) {
    this.#limit = limit
  }

  /** Whether what was just done, with what came of it, is a loop. */
  isLoop(action: string, outcome: string): boolean {
    const now = JSON.stringify([action, outcome])
    this.#count = now === this.#last ? this.#count + 1 : 1
    this.#last = now
    return this.#count >= this.#limit
  }
}
