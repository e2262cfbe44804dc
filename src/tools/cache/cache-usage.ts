const SWEEP_INTERVAL_MS = 60 * 60 * 1000

/** Scope of a sweep: all contexts, one by name, or nothing. */
export type SweepScope = 'all' | { readonly context: string } | undefined

/**
 * Known size of a cache, and time of its last sweep. The caches of one directory share it, so that one of them sweeps.
 */
export class CacheUsage {
  readonly #bytes = new Map<string, number>()
  #sweptAt: number | undefined

  /** Adds an output, and returns the sweep that is due: of everything once an hour, of a context beyond its limit. */
  add(context: string, bytes: number, { now, maxBytes }: { now: number; maxBytes: number }): SweepScope {
    const total = (this.#bytes.get(context) ?? 0) + bytes
    this.#bytes.set(context, total)
    if (this.#sweptAt === undefined || now - this.#sweptAt >= SWEEP_INTERVAL_MS) {
      this.#sweptAt = now
      return 'all'
    }
    return total > maxBytes ? { context } : undefined
  }

  /** Sets the size of a context after a sweep. */
  set(context: string, bytes: number): void {
    this.#bytes.set(context, bytes)
  }
}
