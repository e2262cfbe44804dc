/** Resources to close in reverse order. */
export class CleanupStack {
  readonly #closers: (() => Promise<void>)[] = []

  /** Adds a resource to close, if it can be closed, and returns it. */
  use<T extends Partial<AsyncDisposable>>(thing: T): T {
    this.#closers.push(async () => thing[Symbol.asyncDispose]?.())
    return thing
  }

  defer(close: () => Promise<void>): void {
    this.#closers.push(close)
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
}
