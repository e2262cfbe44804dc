import { setImmediate as nextTurn } from 'node:timers/promises'

const MAX_WINDOW_WRITES = 256
const MAX_WINDOW_BYTES = 8 * 1024 * 1024

/** Writes that were submitted and not awaited yet: those of one window are committed together. */
export class CommitWindow {
  #writes: Promise<void>[] = []
  #bytes = 0

  get isFull(): boolean {
    return this.#writes.length >= MAX_WINDOW_WRITES || this.#bytes >= MAX_WINDOW_BYTES
  }

  add(write: Promise<void>, bytes: number): void {
    // Heard of at the end of the window; until then it is not unhandled.
    write.catch(() => {})
    this.#writes.push(write)
    this.#bytes += bytes
  }

  /** Waits for all of it, and lets other work of the process have its turn. */
  async drain(): Promise<void> {
    const writes = this.#writes
    this.#writes = []
    this.#bytes = 0
    await Promise.all(writes)
    await nextTurn()
  }
}
