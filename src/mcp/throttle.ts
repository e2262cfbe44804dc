/**
 * Runs an action at once, and again at most once an interval however often it is requested. Only `flush` runs it while
 * the last run may still go on.
 * The last request is never lost: it runs at the end of the interval, unless the throttle is stopped before.
 */
export class Throttle {
  readonly #action: () => Promise<void>
  readonly #intervalMs: number
  #timer: NodeJS.Timeout | undefined
  #isThrottled = false
  #isRequested = false
  #isStopped = false

  /** @param action never rejects. */
  constructor(intervalMs: number, action: () => Promise<void>) {
    this.#intervalMs = intervalMs
    this.#action = action
  }

  request(): void {
    if (this.#isStopped) return
    if (this.#isThrottled) this.#isRequested = true
    else this.#run()
  }

  /** Runs a pending request now, and none after it. */
  flush(): void {
    if (this.#isRequested && !this.#isStopped) void this.#action()
    this.stop()
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #run(): void {
    this.#isRequested = false
    this.#isThrottled = true
    const done = this.#action()
    this.#timer = setTimeout(() => void done.then(() => this.#wake()), this.#intervalMs)
    // A pending notification must not keep the process alive.
    this.#timer.unref()
  }

  #wake(): void {
    this.#isThrottled = false
    if (this.#isRequested) this.request()
  }
}
