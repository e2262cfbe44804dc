import type { Contexts } from '../context/index.ts'
import { type ReapStep, reapSteps } from '../event.ts'
import type { Process } from './process.ts'
import type { ProcessTable } from './process-table.ts'

/** Cleanup functions for the state that a process leaves in other parts of the kernel. */
export interface ReapHooks {
  leaveGroups(process: Process): void
  clearThreads(process: Process): Promise<void>
  clearCoroutines(process: Process): Promise<void>
}

/** Reaps ended processes, each once, in an order that uses nothing after it is removed. */
export class Reaper {
  readonly #table: ProcessTable
  readonly #contexts: Contexts
  readonly #hooks: ReapHooks
  readonly #reaping = new Map<number, Promise<void>>()

  constructor(table: ProcessTable, contexts: Contexts, remains: ReapHooks) {
    this.#table = table
    this.#contexts = contexts
    this.#hooks = remains
  }

  /** A second call waits for the first. A process that never ran has already been cleaned up. */
  async reap(process: Process): Promise<void> {
    if (process.state === 'dead' || process.state === 'created') return
    const underWay = this.#reaping.get(process.pid) ?? this.#reap(process)
    this.#reaping.set(process.pid, underWay)
    try {
      await underWay
    } finally {
      this.#reaping.delete(process.pid)
    }
  }

  /** Cleans up a process that never ran: it has no loop to wait for and emits no end. */
  async abandon(process: Process): Promise<void> {
    const { loop: _, dead: __, ...steps } = this.#createSteps(process)
    for (const act of Object.values(steps)) await act()
  }

  async #reap(process: Process): Promise<void> {
    const steps = this.#createSteps(process)
    for (const step of reapSteps) {
      await steps[step]()
      process.emit({ kind: 'reap', step })
    }
  }

  /** Returns the steps in the order in which they run. */
  #createSteps(process: Process): Readonly<Record<ReapStep, () => void | Promise<void>>> {
    return {
      orphans: () => this.#reparent(process),
      cancel: () => process.cancel('reaped'),
      loop: () => process.ended,
      channels: () => {
        process.debug.close()
        process.log.close()
      },
      messages: () => process.messages.close(),
      groups: () => this.#hooks.leaveGroups(process),
      signals: () => process.signals.clear(),
      threads: () => this.#hooks.clearThreads(process),
      coroutines: () => this.#hooks.clearCoroutines(process),
      context: () => this.#contexts.ctxFree(process.contextId),
      dead: () => process.markDead(),
      removed: () => this.#table.remove(process.pid),
    }
  }

  /** Gives running children to the kernel, and reaps ended children, because no process will wait for them. */
  #reparent(process: Process): void {
    for (const pid of process.children) {
      const child = this.#table.find(pid)
      if (child === undefined) continue
      child.ppid = 0
      child.emit({ kind: 'reparented', detail: `from ${process.pid} to 0` })
      if (child.state === 'zombie') void this.reap(child)
    }
    process.children.clear()
  }
}
