import { setImmediate as nextTurn } from 'node:timers/promises'

const MAX_WINDOW_WRITES = 256
const MAX_WINDOW_BYTES = 8 * 1024 * 1024

/** Writes that were submitted and not awaited yet. The writes of one window are committed together. */
export class CommitWindow {
  #writes: Promise<void>[] = []
  #bytes = 0

  get isFull(): boolean {
    return this.#writes.length >= MAX_WINDOW_WRITES || this.#bytes >= MAX_WINDOW_BYTES
  }

  add(write: Promise<void>, bytes: number): void {
    // `drain` reports the failure; until then the rejection must not count as unhandled.
    write.catch(() => {})
    this.#writes.push(write)
    this.#bytes += bytes
  }

  /** Awaits all writes and yields to other work. */
  async drain(): Promise<void> {
    const writes = this.#writes
    this.#writes = []
    this.#bytes = 0
    await Promise.all(writes)
    await nextTurn()
  }
}
