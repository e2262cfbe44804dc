/**
 * Runs work one after another, in the order of the calls. A failure rejects the promise of its own call alone, and the
 * next work runs.
 */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    // No `catch` here: Node reports the failure of the last work, if its caller does not handle it.
    const turn = this.#last.then(work, work)
    this.#last = turn
    return turn
  }
}
