/** Runs tasks of one key in order; tasks of other keys do not wait for them. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>()

  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const previous = this.#last.get(key)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last.set(key, promise)
    try {
      await previous
      return await task()
    } finally {
      resolve()
      if (this.#last.get(key) === promise) this.#last.delete(key)
    }
  }
}
