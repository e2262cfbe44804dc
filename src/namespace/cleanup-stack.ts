/** Resources to close in reverse order. */
export class CleanupStack {
  readonly #closers: (() => Promise<void>)[] = []

  /** Takes charge of something that can be closed, or has nothing to close. */
  use<T extends Partial<AsyncDisposable>>(thing: T): T {
    this.#closers.push(async () => thing[Symbol.asyncDispose]?.())
    return thing
  }

  defer(close: () => Promise<void>): void {
    this.#closers.push(close)
  }

  /** Closes everything, whatever fails; then throws the first failure. Twice is as good as once. */
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
