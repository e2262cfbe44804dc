import type { Contexts } from '../context/index.ts'
import { type ReapStep, reapSteps } from '../event.ts'
import type { Process } from './process.ts'
import type { ProcessTable } from './process-table.ts'

/** What a process leaves behind elsewhere in the kernel, to be cleared when it is reaped. */
export interface Remains {
  leaveGroups(process: Process): void
  clearThreads(process: Process): Promise<void>
  clearCoroutines(process: Process): Promise<void>
}

/** Takes ended processes apart, each once, in an order in which nothing is used after it is gone. */
export class Reaper {
  readonly #table: ProcessTable
  readonly #contexts: Contexts
  readonly #remains: Remains
  readonly #reaping = new Map<number, Promise<void>>()

  constructor(table: ProcessTable, contexts: Contexts, remains: Remains) {
    this.#table = table
    this.#contexts = contexts
    this.#remains = remains
  }

  /** Whoever comes second waits for the first. */
  async reap(process: Process): Promise<void> {
    if (process.state === 'dead') return
    const underWay = this.#reaping.get(process.pid) ?? this.#reap(process)
    this.#reaping.set(process.pid, underWay)
    try {
      await underWay
    } finally {
      this.#reaping.delete(process.pid)
    }
  }

  async #reap(process: Process): Promise<void> {
    const steps: Readonly<Record<ReapStep, () => void | Promise<void>>> = {
      orphans: () => this.#reparent(process),
      cancel: () => process.cancel('reaped'),
      loop: () => process.ended,
      channels: () => {
        process.debug.close()
        process.log.close()
      },
      messages: () => process.messages.close(),
      groups: () => this.#remains.leaveGroups(process),
      signals: () => process.signals.clear(),
      threads: () => this.#remains.clearThreads(process),
      coroutines: () => this.#remains.clearCoroutines(process),
      context: () => this.#contexts.ctxFree(process.contextId),
      dead: () => process.bury(),
      removed: () => this.#table.remove(process.pid),
    }
    for (const [step, act] of entriesOf(steps)) {
      await act()
      process.tell({ kind: 'reap', step })
    }
  }

  /** Children that run become the kernel's; those that ended are reaped, since nobody will wait for them. */
  #reparent(process: Process): void {
    for (const pid of process.children) {
      const child = this.#table.find(pid)
      if (child === undefined) continue
      child.ppid = 0
      child.tell({ kind: 'reparented', detail: `from ${process.pid} to 0` })
      if (child.state === 'zombie') void this.reap(child)
    }
    process.children.clear()
  }
}

function entriesOf<Value>(steps: Readonly<Record<ReapStep, Value>>): [ReapStep, Value][] {
  return reapSteps.map((step) => [step, steps[step]])
}
