/** Bytes by number, in memory, that can be listed in order without sorting them for each listing. */
export class NumberedRows {
  readonly #rows = new Map<number, Uint8Array>()
  /** Every id there is, in order, and some that were deleted since. Undefined: to be sorted anew. */
  #sorted: number[] | undefined = []

  get count(): number {
    return this.#rows.size
  }

  get(id: number): Uint8Array | undefined {
    return this.#rows.get(id)
  }

  set(id: number, bytes: Uint8Array): void {
    if (!this.#rows.has(id)) {
      if (id > (this.#sorted?.at(-1) ?? -1)) this.#sorted?.push(id)
      else this.#sorted = undefined
    }
    this.#rows.set(id, bytes)
  }

  delete(id: number): void {
    this.#rows.delete(id)
    if ((this.#sorted?.length ?? 0) > 2 * this.#rows.size) this.#sorted = undefined
  }

  listAfter(after: number, limit: number): number[] {
    this.#sorted ??= [...this.#rows.keys()].sort((one, other) => one - other)
    const found: number[] = []
    for (let at = this.#indexAfter(this.#sorted, after); found.length < limit; at++) {
      const id = this.#sorted[at]
      if (id === undefined) break
      if (this.#rows.has(id)) found.push(id)
    }
    return found
  }

  bytes(): number {
    return this.#rows.values().reduce((sum, bytes) => sum + bytes.length, 0)
  }

  #indexAfter(sorted: readonly number[], after: number): number {
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
