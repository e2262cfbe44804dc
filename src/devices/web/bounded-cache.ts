export interface BoundedCacheOptions {
  readonly maxAgeMs: number
  readonly maxEntries: number
  /** Limit of the total weight of all entries. */
  readonly maxWeight: number
  readonly now: () => number
}

interface CacheEntry<Value> {
  readonly value: Value
  readonly weight: number
  readonly storedAt: number
}

/** A cache that evicts its oldest entries beyond a number or a total weight, and those past an age. */
export class BoundedCache<Value> {
  readonly #options: BoundedCacheOptions
  readonly #entries = new Map<string, CacheEntry<Value>>()
  #weight = 0

  constructor(options: BoundedCacheOptions) {
    this.#options = options
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (this.#options.now() - entry.storedAt < this.#options.maxAgeMs) return entry.value
    this.#delete(key)
    return undefined
  }

  /** Stores an entry unless it alone exceeds the limit. */
  set(key: string, value: Value, weight: number): void {
    const { maxEntries, maxWeight, now } = this.#options
    this.#delete(key)
    if (weight > maxWeight) return
    this.#entries.set(key, { value, weight, storedAt: now() })
    this.#weight += weight
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= maxEntries && this.#weight <= maxWeight) return
      this.#delete(oldest)
    }
  }

  #delete(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
  }
}
