import type { VaultLog } from '../../store/index.ts'

/** Interval in milliseconds at which commits of other processes are polled. */
const POLL_MS = 50

/**
 * Wakes a waiter on each commit of this process, and at the polling interval, because another process may have
 * committed.
 */
export class CommitSignal {
  readonly #unsubscribe: () => void
  readonly #signal: AbortSignal | undefined
  #hasCommitted = false
  #waiting: (() => void) | undefined

  constructor(log: VaultLog, signal: AbortSignal | undefined) {
    this.#signal = signal
    this.#unsubscribe = log.subscribe(this.#notify)
    signal?.addEventListener('abort', this.#notify)
  }

  /**
   * Waits for a commit of this process, an abort, or the polling interval. Returns false after the interval. After an abort
   * it does not wait any more.
   */
  async next(): Promise<boolean> {
    if (!this.#hasCommitted && this.#signal?.aborted !== true) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, POLL_MS)
      this.#waiting = resolve
      await promise
      clearTimeout(timer)
      this.#waiting = undefined
    }
    const hasCommitted = this.#hasCommitted
    this.#hasCommitted = false
    return hasCommitted
  }

  /** Unsubscribes from the log and the signal. */
  close(): void {
    this.#unsubscribe()
    this.#signal?.removeEventListener('abort', this.#notify)
  }

  readonly #notify = (): void => {
    this.#hasCommitted = true
    this.#waiting?.()
  }
}
