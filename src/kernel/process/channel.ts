/**
 * What happened, for whoever comes to read it, one reader at a time. It holds so much and no more: what comes while it
 * is full is dropped and counted, so that nobody waits for a reader.
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

  /** How many were dropped. */
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

  /** What it holds can still be read. */
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
