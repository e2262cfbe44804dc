import type { MaybeAsync } from './coroutine.ts'

/** Runs calls one after another. A synchronous call with none before it runs at once. */
export class CallQueue {
  #last: Promise<void> | undefined

  run<T>(call: () => MaybeAsync<T>): MaybeAsync<T> {
    const result = this.#last?.then(call) ?? call()
    if (!(result instanceof Promise)) return result
    const done = result
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        if (this.#last === done) this.#last = undefined
      })
    this.#last = done
    return result
  }
}
