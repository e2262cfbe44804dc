import { MemoryGuard, type ProcessTree } from '../../../machine/index.ts'
import type { RunSpec, StopReason } from '../command-session.ts'
import { DiskGuard } from './disk-guard.ts'

/** Kills a command at its timeout, at a signal, or when it exceeds its disk or memory limit. */
export class CommandStopper implements Disposable {
  #stopped: StopReason | undefined
  readonly #tree: ProcessTree | undefined
  readonly #cleanUps: (() => void)[] = []

  constructor({ timeoutMs, signal, limits }: RunSpec, directory: string, tree: ProcessTree | undefined) {
    this.#tree = tree
    if (timeoutMs > 0) {
      const timer = setTimeout(() => this.#stop('timeout'), timeoutMs)
      this.#cleanUps.push(() => clearTimeout(timer))
    }
    if (limits.diskBytes !== undefined) {
      const guard = new DiskGuard(directory, limits.diskBytes, () => this.#stop('disk'))
      this.#cleanUps.push(() => guard[Symbol.dispose]())
    }
    if (limits.watchedMemoryBytes !== undefined && tree !== undefined) {
      const guard = new MemoryGuard(
        () => tree.pids(),
        limits.watchedMemoryBytes,
        () => this.#stop('memory'),
      )
      this.#cleanUps.push(() => guard[Symbol.dispose]())
    }
    const abort = () => this.#stop('abort')
    signal?.addEventListener('abort', abort)
    this.#cleanUps.push(() => signal?.removeEventListener('abort', abort))
    if (signal?.aborted) abort()
  }

  /** Reason for which the command was stopped; undefined if it was not. */
  get stopped(): StopReason | undefined {
    return this.#stopped
  }

  [Symbol.dispose](): void {
    for (const cleanUp of this.#cleanUps) cleanUp()
  }

  #stop(reason: StopReason): void {
    this.#stopped ??= reason
    this.#tree?.kill()
  }
}
