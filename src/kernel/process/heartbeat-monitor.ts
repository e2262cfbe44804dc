import type { ProcessTable } from './process-table.ts'

/** Number of checks within the time after which a process counts as stalled. */
const CHECKS = 4

/** Reports running processes that have shown no event for a time. Paused ones do not count. */
export class HeartbeatMonitor implements Disposable {
  readonly #table: ProcessTable
  readonly #stallMs: number
  readonly #timer: NodeJS.Timeout

  constructor(table: ProcessTable, stallMs: number) {
    this.#table = table
    this.#stallMs = stallMs
    this.#timer = setInterval(() => this.check(performance.now()), stallMs / CHECKS)
    this.#timer.unref()
  }

  /** Marks the processes that are stalled at this moment. */
  check(now: number): void {
    for (const process of this.#table.list()) {
      const isSilent = now - process.lastBeat > this.#stallMs
      if (process.state === 'running' && !process.isPaused && !process.isStalled && isSilent) process.stall()
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
