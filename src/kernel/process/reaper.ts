import type { Contexts } from '../context/index.ts'
import { type ReapStep, reapSteps } from '../event.ts'
import type { Process } from './process.ts'
import type { ProcessTable } from './process-table.ts'

/** Removes what a process leaves in other parts of the kernel. */
export interface ReapHooks {
  leaveGroups(process: Process): void
  clearThreads(process: Process): Promise<void>
  clearCoroutines(process: Process): Promise<void>
}

/** Cleans up ended processes, each once. No step uses what an earlier one removed. */
export class Reaper {
  readonly #table: ProcessTable
  readonly #contexts: Contexts
  readonly #hooks: ReapHooks
  readonly #reapsByPid = new Map<number, Promise<void>>()

  constructor(table: ProcessTable, contexts: Contexts, hooks: ReapHooks) {
    this.#table = table
    this.#contexts = contexts
    this.#hooks = hooks
  }

  /** Cleans up a process; a second call waits for the first. One that never ran is left to `abandon`. */
  async reap(process: Process): Promise<void> {
    if (process.state === 'dead' || process.state === 'created') return
    const reaping = this.#reapsByPid.get(process.pid) ?? this.#reap(process)
    this.#reapsByPid.set(process.pid, reaping)
    try {
      await reaping
    } finally {
      this.#reapsByPid.delete(process.pid)
    }
  }

  /** Cleans up a process that never ran: it has no loop to wait for, emits no events and never becomes `dead`. */
  async abandon(process: Process): Promise<void> {
    const actions = this.#createActions(process)
    for (const step of reapSteps) if (step !== 'loop' && step !== 'dead') await actions[step]()
  }

  async #reap(process: Process): Promise<void> {
    const actions = this.#createActions(process)
    for (const step of reapSteps) {
      await actions[step]()
      process.emit({ kind: 'reap', step })
    }
  }

  /** Returns the action of each step; `reapSteps` has their order. */
  #createActions(process: Process): Readonly<Record<ReapStep, () => void | Promise<void>>> {
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

  /** Makes the kernel the parent of the children. Cleans up ended ones, because no process will wait for them. */
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
