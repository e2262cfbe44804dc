import { statfsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { measureDiskUse } from './disk-use.ts'

const POLL_INTERVAL_MS = 200

/**
 * Watches the disk use of a run below a directory, and calls back once when it exceeds the limit or the disk is full.
 * Measures the directory only if the disk has lost that much free space since the start, so that a check is cheap.
 */
export class DiskGuard implements Disposable {
  readonly #directory: string
  readonly #limit: number
  readonly #onExceeded: () => void
  readonly #timer: NodeJS.Timeout
  readonly #freeAtStart: number
  #isPolling = false

  constructor(directory: string, limit: number, onExceeded: () => void) {
    this.#directory = directory
    this.#limit = limit
    this.#onExceeded = onExceeded
    // Before the command starts: it may have written everything by the first poll.
    this.#freeAtStart = getFreeBytes(statfsSync(directory))
    this.#timer = setInterval(() => this.#poll(), POLL_INTERVAL_MS)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return
    this.#isPolling = true
    try {
      const free = getFreeBytes(await statfs(this.#directory))
      const isSuspect = free === 0 || this.#freeAtStart - free > this.#limit
      if (isSuspect && (free === 0 || (await measureDiskUse(this.#directory)) > this.#limit)) this.#stop()
    } catch {
      // The directory was removed: the run is over.
      clearInterval(this.#timer)
    } finally {
      this.#isPolling = false
    }
  }

  #stop(): void {
    clearInterval(this.#timer)
    this.#onExceeded()
  }
}

function getFreeBytes({ bavail, bsize }: { readonly bavail: number; readonly bsize: number }): number {
  return bavail * bsize
}
