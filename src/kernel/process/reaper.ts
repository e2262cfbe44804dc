import type { Contexts } from '../context/index.ts'
import { type ReapStep, reapSteps } from '../event.ts'
import type { Process } from './process.ts'
import type { ProcessTable } from './process-table.ts'

/** What a process leaves behind elsewhere in the kernel, to be cleared when it is reaped. */
export interface ReapHooks {
  leaveGroups(process: Process): void
  clearThreads(process: Process): Promise<void>
  clearCoroutines(process: Process): Promise<void>
}

/** Takes ended processes apart, each once, in an order in which nothing is used after it is gone. */
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

  /** Whoever comes second waits for the first. One that never began was taken apart when that was clear. */
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

  /** Takes one apart that never began: it has no loop to wait for, and no end to be told of. */
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

  /** In the order they are taken. */
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

  /** Children that run become the kernel's; those that ended are reaped, since nobody will wait for them. */
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
