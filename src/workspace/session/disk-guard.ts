import { statfsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { diskUse } from './disk-use.ts'

const LOOK_EVERY_MS = 200

/**
 * Watches what a run writes below a directory, and says once when it is more than allowed.
 * What is there is counted only when the disk has lost that much since, so that looking costs next to nothing.
 */
export class DiskGuard implements Disposable {
  readonly #directory: string
  readonly #limit: number
  readonly #exceeded: () => void
  readonly #timer: NodeJS.Timeout
  readonly #freeAtStart: number
  #isLooking = false

  constructor(directory: string, limit: number, exceeded: () => void) {
    this.#directory = directory
    this.#limit = limit
    this.#exceeded = exceeded
    // Before the command has begun, which may have written all it wants by the first look.
    this.#freeAtStart = freeBytes(statfsSync(directory))
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      const free = freeBytes(await statfs(this.#directory))
      const isSuspect = free === 0 || this.#freeAtStart - free > this.#limit
      if (isSuspect && (free === 0 || (await diskUse(this.#directory)) > this.#limit)) this.#stop()
    } catch {
      // The directory is being taken down: the run is over.
      clearInterval(this.#timer)
    } finally {
      this.#isLooking = false
    }
  }

  #stop(): void {
    clearInterval(this.#timer)
    this.#exceeded()
  }
}

function freeBytes({ bavail, bsize }: { readonly bavail: number; readonly bsize: number }): number {
  return bavail * bsize
}
