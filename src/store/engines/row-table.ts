/** In-memory rows by id; lists them in order without sorting for each call. */
export class RowTable {
  readonly #rows = new Map<number, Uint8Array>()
  /** Sorted ids, including some deleted ones. Undefined: to be sorted again. */
  #sortedIds: number[] | undefined = []

  get count(): number {
    return this.#rows.size
  }

  get(id: number): Uint8Array | undefined {
    return this.#rows.get(id)
  }

  set(id: number, bytes: Uint8Array): void {
    if (!this.#rows.has(id)) {
      if (id > (this.#sortedIds?.at(-1) ?? -1)) this.#sortedIds?.push(id)
      else this.#sortedIds = undefined
    }
    this.#rows.set(id, bytes)
  }

  delete(id: number): void {
    this.#rows.delete(id)
    if ((this.#sortedIds?.length ?? 0) > 2 * this.#rows.size) this.#sortedIds = undefined
  }

  listAfter(after: number, limit: number): number[] {
    this.#sortedIds ??= [...this.#rows.keys()].sort((one, other) => one - other)
    const found: number[] = []
    for (let index = this.#findIndexAfter(this.#sortedIds, after); found.length < limit; index++) {
      const id = this.#sortedIds[index]
      if (id === undefined) break
      if (this.#rows.has(id)) found.push(id)
    }
    return found
  }

  countBytes(): number {
    return this.#rows.values().reduce((sum, bytes) => sum + bytes.length, 0)
  }

  #findIndexAfter(sorted: readonly number[], after: number): number {
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((sorted[middle] ?? 0) <= after) low = middle + 1
      else high = middle
    }
    return low
  }
}
