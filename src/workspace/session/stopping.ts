import { DiskGuard } from './disk-guard.ts'
import type { RunSpec, StopReason } from './session.ts'

/** Whatever ends a command before its time: the clock, whoever asked for it, or what it writes. */
export class Stopping implements Disposable {
  #stopped: StopReason | undefined
  readonly #kill: () => void
  readonly #cleanUps: (() => void)[] = []

  constructor({ timeoutMs, signal, limits }: RunSpec, directory: string, kill: () => void) {
    this.#kill = kill
    if (timeoutMs > 0) {
      const timer = setTimeout(() => this.#stop('timeout'), timeoutMs)
      this.#cleanUps.push(() => clearTimeout(timer))
    }
    if (limits.diskBytes !== undefined) {
      const guard = new DiskGuard(directory, limits.diskBytes, () => this.#stop('disk'))
      this.#cleanUps.push(() => guard[Symbol.dispose]())
    }
    const abort = () => this.#stop('abort')
    signal?.addEventListener('abort', abort)
    this.#cleanUps.push(() => signal?.removeEventListener('abort', abort))
    if (signal?.aborted) abort()
  }

  /** Why the command was ended; undefined if it was not. */
  get stopped(): StopReason | undefined {
    return this.#stopped
  }

  [Symbol.dispose](): void {
    for (const cleanUp of this.#cleanUps) cleanUp()
  }

  #stop(reason: StopReason): void {
    this.#stopped ??= reason
    this.#kill()
  }
}
