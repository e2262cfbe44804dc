/**
 * A bounded queue of items for one reader at a time.
 * Writers never wait: while the queue is full, new items are dropped and counted.
 */
export class Channel<Item> implements AsyncIterable<Item> {
  readonly #limit: number
  #items: Item[] = []
  #isClosed = false
  #dropped = 0
  #wake: (() => void) | undefined

  constructor(limit = 256) {
    this.#limit = limit
  }

  /** Items that wait for a reader, the oldest first. Getting them does not take them. */
  get waiting(): readonly Item[] {
    return this.#items
  }

  /** Number of dropped items. */
  get dropped(): number {
    return this.#dropped
  }

  push(item: Item): void {
    if (this.#isClosed) return
    if (this.#items.length >= this.#limit) {
      this.#dropped++
      return
    }
    this.#items.push(item)
    this.#wake?.()
  }

  /** Allows no more items. The queued items can still be read. */
  close(): void {
    this.#isClosed = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    for (;;) {
      const items = this.#items
      this.#items = []
      yield* items
      if (this.#items.length > 0) continue
      if (this.#isClosed) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}
