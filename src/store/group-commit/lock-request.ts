import { rmSync, statSync } from 'node:fs'
import { makePrivateFile } from '../../machine/index.ts'

const CHECK_INTERVAL_MS = 1
/** Time for which a connection begins no group after another one requested the lock. */
const YIELD_MS = 1000

/** A file beside the database that exists while another connection waits for the write lock. */
export class LockRequest {
  readonly #file: string
  #checkedAt = 0
  #yieldsUntil = 0

  constructor(file: string) {
    this.#file = file
  }

  /**
   * Reports a request of another connection, once: it withdraws the request, and the lock is left to others for a
   * while. Looks at the disk once a millisecond.
   */
  receive(): boolean {
    const now = performance.now()
    if (now - this.#checkedAt < CHECK_INTERVAL_MS) return false
    this.#checkedAt = now
    if (statSync(this.#file, { throwIfNoEntry: false }) === undefined) return false
    this.withdraw()
    this.#yieldsUntil = now + YIELD_MS
    return true
  }

  /** Receives a request; true while the lock is left to other connections. */
  shouldYield(): boolean {
    return this.receive() || performance.now() < this.#yieldsUntil
  }

  send(): void {
    try {
      makePrivateFile(this.#file)
    } catch {
      // Without the file, the wait is longer.
    }
  }

  withdraw(): void {
    rmSync(this.#file, { force: true })
  }
}
