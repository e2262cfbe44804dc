/** Runs work one after another, in the order of the calls. */
export class SessionMutex {
  #last: Promise<unknown> = Promise.resolve()

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(work, work)
    this.#last = turn
    return turn
  }
}
