import type { VaultLog } from '../../store/index.ts'

/** How often other processes' commits are looked for. */
const POLL_MS = 50

/** Rings when this process has committed something, and wakes who waits for it once a moment: another may have. */
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

  /** Resolves when this process has committed since the last time, or its signal says stop; false: only another may have. */
  async next(): Promise<boolean> {
    if (!this.#hasCommitted && this.#signal?.aborted !== true) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, POLL_MS)
      this.#waiting = resolve
      await promise
      clearTimeout(timer)
      this.#waiting = undefined
    }
    const hasRung = this.#hasCommitted
    this.#hasCommitted = false
    return hasRung
  }

  /** Stops listening: for when nobody waits any more. */
  close(): void {
    this.#unsubscribe()
    this.#signal?.removeEventListener('abort', this.#notify)
  }

  readonly #notify = (): void => {
    this.#hasCommitted = true
    this.#waiting?.()
  }
}
