import type { Process } from './process.ts'
import type { ProcessTable } from './process-table.ts'

/** Number of checks within the time after which a process counts as stalled. */
const CHECKS_PER_STALL = 4

/**
 * Reports running processes that have shown no event for a time. Paused ones do not count, nor those that have a
 * child at work: they wait for it.
 */
export class HeartbeatMonitor implements Disposable {
  readonly #table: ProcessTable
  readonly #stallMs: number
  readonly #timer: NodeJS.Timeout

  constructor(table: ProcessTable, stallMs: number) {
    this.#table = table
    this.#stallMs = stallMs
    this.#timer = setInterval(() => this.check(performance.now()), stallMs / CHECKS_PER_STALL)
    this.#timer.unref()
  }

  /** Marks the processes that are stalled at this moment. */
  check(now: number): void {
    for (const process of this.#table.list()) {
      if (!process.isStalled && this.#isSilent(process, now) && !this.#hasChildAtWork(process, now))
        process.stall()
    }
  }

  #isSilent(process: Process, now: number): boolean {
    return process.state === 'running' && !process.isPaused && now - process.lastBeat > this.#stallMs
  }

  #hasChildAtWork({ children }: Process, now: number): boolean {
    return [...children].some((pid) => {
      const child = this.#table.find(pid)
      return child?.state === 'running' && (!this.#isSilent(child, now) || this.#hasChildAtWork(child, now))
    })
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
