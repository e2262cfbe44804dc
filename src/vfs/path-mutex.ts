/**
 * Runs the mutations of each path one after another, in the order they were issued. A synchronous mutation with none
 * before it costs one map lookup per path.
 */
export class PathMutex {
  readonly #last = new Map<string, Promise<unknown>>()

  /** Reports whether a mutation of the path is running, so that the next one must wait. */
  isBusy(path: string): boolean {
    return this.#last.has(path)
  }

  /**
   * Runs a mutation after the earlier ones of its paths, at once if there are none.
   * @param secondPath a second path that the mutation changes. Both are queued now, so two renames cannot deadlock.
   */
  run<T>(path: string, secondPath: string | undefined, mutation: () => T | Promise<T>): T | Promise<T> {
    const before = this.#last.get(path)
    const otherBefore = secondPath === undefined ? undefined : this.#last.get(secondPath)
    const waiting = before ?? otherBefore
    const result = waiting === undefined ? mutation() : Promise.all([before, otherBefore]).then(mutation)
    if (!(result instanceof Promise)) return result
    const release = () => {
      if (this.#last.get(path) === settled) this.#last.delete(path)
      if (secondPath !== undefined && this.#last.get(secondPath) === settled) this.#last.delete(secondPath)
    }
    const settled: Promise<unknown> = result.then(release, release)
    this.#last.set(path, settled)
    if (secondPath !== undefined) this.#last.set(secondPath, settled)
    return result
  }
}
