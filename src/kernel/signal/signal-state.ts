import { VfsError } from '../../vfs/index.ts'
import type { Disposition, Signal, SignalHandler } from './signal.ts'

/** Blocked, handled and pending signals of one process. */
export class SignalState {
  readonly #handlers = new Map<Signal, SignalHandler>()
  readonly #blocked = new Set<Signal>()
  readonly #pending = new Set<Signal>()

  get pending(): readonly Signal[] {
    return [...this.#pending]
  }

  get blocked(): readonly Signal[] {
    return [...this.#blocked]
  }

  /** EINVAL for SIGKILL. */
  handle(signal: Signal, handler: SignalHandler): void {
    assertMaskable(signal, 'handled')
    this.#handlers.set(signal, handler)
  }

  /** EINVAL for SIGKILL. */
  block(signal: Signal): void {
    assertMaskable(signal, 'blocked')
    this.#blocked.add(signal)
  }

  /** Returns true if the signal was pending and must be delivered now. */
  unblock(signal: Signal): boolean {
    this.#blocked.delete(signal)
    return this.#pending.delete(signal)
  }

  /** Decides what happens to a signal; a blocked one is pending. Synchronous, so that nothing can interleave. */
  receive(signal: Signal): Disposition {
    if (this.#blocked.has(signal)) {
      this.#pending.add(signal)
      return 'pending'
    }
    return this.#handlers.get(signal) ?? 'default'
  }

  clear(): void {
    this.#handlers.clear()
    this.#blocked.clear()
    this.#pending.clear()
  }
}

function assertMaskable(signal: Signal, change: string): void {
  if (signal !== 'SIGKILL') return
  throw new VfsError('EINVAL', '/proc', { op: 'signal', detail: `SIGKILL cannot be ${change}` })
}
