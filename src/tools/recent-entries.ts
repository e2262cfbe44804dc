const MAX_ENTRIES = 10_000

/** Values by key; beyond ten thousand, evicts the least recently set. */
export class RecentEntries<T> {
  readonly #entries = new Map<string, T>()

  get(key: string): T | undefined {
    return this.#entries.get(key)
  }

  set(key: string, value: T): void {
    // Delete first, so that the key comes last in the order of the map.
    this.#entries.delete(key)
    this.#entries.set(key, value)
    if (this.#entries.size <= MAX_ENTRIES) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }

  deleteWhere(isDoomed: (key: string) => boolean): void {
    for (const key of this.#entries.keys()) if (isDoomed(key)) this.#entries.delete(key)
  }
}
