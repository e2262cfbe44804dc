/**
 * Runs the mutations of each path one after another, in the order they were issued.
 * A mutation that finishes at once, with none before it, costs one map lookup.
 */
export class WriteOrder {
  readonly #last = new Map<string, Promise<void>>()

  /** Whether a mutation of the path is still under way, so that the next one will have to wait. */
  isBusy(path: string): boolean {
    return this.#last.has(path)
  }

  run<T>(path: string, mutation: () => T | Promise<T>): T | Promise<T> {
    const previous = this.#last.get(path)
    const result = previous === undefined ? mutation() : previous.then(mutation)
    if (!(result instanceof Promise)) return result
    const settled = result.then(ignore, ignore).then(() => {
      if (this.#last.get(path) === settled) this.#last.delete(path)
    })
    this.#last.set(path, settled)
    return result
  }
}

function ignore(): void {}
