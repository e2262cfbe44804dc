/**
 * Resources to close in reverse order. It stands for `AsyncDisposableStack`, which the oldest supported Node does not
 * have.
 */
export class CleanupStack implements AsyncDisposable {
  #closers: (() => unknown)[] = []

  /** Adds a resource to close, if it can be closed, and returns it. */
  use<T extends Partial<Disposable & AsyncDisposable>>(thing: T): T {
    this.defer(() => (thing[Symbol.asyncDispose] ?? thing[Symbol.dispose])?.call(thing))
    return thing
  }

  defer(close: () => unknown): void {
    this.#closers.push(close)
  }

  /** Moves everything to a new stack: this one then closes nothing. */
  move(): CleanupStack {
    const moved = new CleanupStack()
    moved.#closers = this.#closers.splice(0)
    return moved
  }

  /** Closes everything, even after failures; then throws the first failure. Idempotent. */
  async close(): Promise<void> {
    const failures: unknown[] = []
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
