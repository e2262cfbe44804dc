/** Number of restarts that a supervisor makes within a time before it gives up. */
export interface RestartLimits {
  readonly restarts: number
  readonly withinMs: number
}

const DEFAULTS: RestartLimits = { restarts: 3, withinMs: 60_000 }

/** Limits the number of restarts within a time window. */
export class RestartLimit {
  readonly #limits: RestartLimits
  readonly #now: () => number
  #times: number[] = []

  constructor(limits: Partial<RestartLimits> = {}, now: () => number = () => performance.now()) {
    this.#limits = { ...DEFAULTS, ...limits }
    this.#now = now
  }

  /** Counts a restart if it is within the limit; returns false otherwise. */
  allows(): boolean {
    const now = this.#now()
    this.#times = this.#times.filter((time) => now - time < this.#limits.withinMs)
    this.#times.push(now)
    return this.#times.length <= this.#limits.restarts
  }
}
