import type { VaultLog } from '../../store/index.ts'

/** How often other processes' commits are looked for. */
const POLL_MS = 50

/** Rings when this process has committed something, and wakes who waits for it once a moment: another may have. */
export class CommitBell {
  readonly #unsubscribe: () => void
  readonly #signal: AbortSignal | undefined
  #hasRung = false
  #waiting: (() => void) | undefined

  constructor(log: VaultLog, signal: AbortSignal | undefined) {
    this.#signal = signal
    this.#unsubscribe = log.subscribe(this.#ring)
    signal?.addEventListener('abort', this.#ring)
  }

  /** Resolves when this process has committed since the last time, or its signal says stop; false: only another may have. */
  async rung(): Promise<boolean> {
    if (!this.#hasRung && this.#signal?.aborted !== true) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, POLL_MS)
      this.#waiting = resolve
      await promise
      clearTimeout(timer)
      this.#waiting = undefined
    }
    const hasRung = this.#hasRung
    this.#hasRung = false
    return hasRung
  }

  /** Stops listening: for when nobody waits any more. */
  hangUp(): void {
    this.#unsubscribe()
    this.#signal?.removeEventListener('abort', this.#ring)
  }

  readonly #ring = (): void => {
    this.#hasRung = true
    this.#waiting?.()
  }
}
