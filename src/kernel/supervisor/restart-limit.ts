export interface RestartLimits {
  readonly restarts: number
  readonly withinMs: number
}

const DEFAULTS: RestartLimits = { restarts: 3, withinMs: 60_000 }

/** Allows so many restarts within so long a time, and no more. */
export class RestartLimit {
  readonly #limits: RestartLimits
  readonly #now: () => number
  #times: number[] = []

  constructor(limits: Partial<RestartLimits> = {}, now: () => number = () => performance.now()) {
    this.#limits = { ...DEFAULTS, ...limits }
    this.#now = now
  }

  /** Whether one more is within the limit; it counts then. */
  allows(): boolean {
    const now = this.#now()
    this.#times = this.#times.filter((time) => now - time < this.#limits.withinMs)
    this.#times.push(now)
    return this.#times.length <= this.#limits.restarts
  }
}
