import { setTimeout as delay } from 'node:timers/promises'
import { isVfsError } from '../../vfs/index.ts'
import { createFailure, EXIT_DONE, type ExitStatus } from '../process/exit-status.ts'
import type { Process } from '../process/process.ts'
import type { ProcessManager } from '../process/processes.ts'
import type { SpawnOptions } from '../process/spawn-options.ts'
import { RestartLimit, type RestartLimits } from './restart-limit.ts'
import type { Restart, Strategy } from './supervisor-options.ts'

/** A child that a supervisor keeps running. */
export interface ChildSpec {
  readonly intent: string
  readonly restart?: Restart
  readonly options?: SpawnOptions
}

/** A supervisor: its strategy, children and limits. */
export interface SupervisorSpec {
  /** Intent of its process; `supervisor` when absent. */
  readonly name?: string
  readonly strategy: Strategy
  readonly children: readonly ChildSpec[]
  readonly limits?: Partial<RestartLimits>
  /** Time in milliseconds a child may take to end before it is killed. */
  readonly shutdownMs?: number
  /**
   * Combines the work of the children once none is left. Gets the last run of each child that succeeded, and returns
   * the result of the supervisor, which fails if it throws.
   */
  readonly finish?: (process: Process, pids: readonly number[]) => Promise<string>
}

const SHUTDOWN_TIMEOUT_MS = 5000

interface Child {
  readonly spec: ChildSpec
  readonly index: number
  pid: number
  /** Resolves when the child ends by itself. */
  ended: Promise<{ readonly child: Child; readonly exit: ExitStatus; readonly pid: number }>
}

/** Keeps children running; the program of a supervisor process. */
export class Supervisor {
  readonly #spec: SupervisorSpec
  readonly #processes: ProcessManager
  readonly #limit: RestartLimit
  readonly #children: Child[] = []
  /** Last runs that succeeded, by the position of their child. */
  readonly #succeeded = new Map<number, number>()

  constructor(spec: SupervisorSpec, processes: ProcessManager) {
    this.#spec = spec
    this.#processes = processes
    this.#limit = new RestartLimit(spec.limits)
  }

  /** Runs until it is stopped, no children are left, or the restart limit is exceeded. */
  async run(process: Process): Promise<ExitStatus> {
    const { promise: stopped, resolve } = Promise.withResolvers<void>()
    process.signal.addEventListener('abort', () => resolve(), { once: true })
    if (process.signal.aborted) resolve()
    try {
      for (const [index, spec] of this.#spec.children.entries()) await this.#start(process, spec, index)
      while (this.#children.length > 0) {
        const end = await Promise.race([stopped, ...this.#children.map(({ ended }) => ended)])
        if (end === undefined || !(await process.waitIfPaused()))
          return createFailure(process.isPaused ? 'context cancelled while paused' : 'stopped')
        if (!(await this.#handleExit(process, end.child, end.exit)))
          return createFailure('max_restarts_exceeded')
      }
      process.result = (await this.#spec.finish?.(process, this.#listSucceeded())) ?? ''
      return { code: EXIT_DONE, reason: 'completed' }
    } finally {
      await this.#stop([...this.#children])
    }
  }

  /** Returns false if the supervisor must give up. */
  async #handleExit(process: Process, child: Child, exit: ExitStatus): Promise<boolean> {
    const { restart = 'permanent' } = child.spec
    this.#removeChild(child)
    log(process, `process ${child.pid} ended: ${exit.code} ${exit.reason}`)
    if (exit.code === EXIT_DONE) this.#succeeded.set(child.index, child.pid)
    if (restart === 'temporary' || (restart === 'transient' && exit.code === EXIT_DONE)) return true
    if (!this.#limit.allows()) return false
    const others = this.#listAffected(child)
    await this.#stop(others)
    const again = [child, ...others].sort((a, b) => a.index - b.index)
    for (const { spec, index } of again) await this.#start(process, spec, index)
    return true
  }

  /** Returns the children that restart together with this one. */
  #listAffected({ index }: Child): Child[] {
    if (this.#spec.strategy === 'one_for_one') return []
    if (this.#spec.strategy === 'one_for_all') return [...this.#children]
    return this.#children.filter((other) => other.index > index)
  }

  #listSucceeded(): number[] {
    return [...this.#succeeded].sort(([one], [other]) => one - other).map(([, pid]) => pid)
  }

  async #start(process: Process, spec: ChildSpec, index: number): Promise<void> {
    this.#succeeded.delete(index)
    const pid = await this.#processes.spawn(spec.intent, { ...spec.options, parent: process.pid })
    log(process, `process ${pid} started: ${spec.intent.split('\n', 1)[0]}`)
    const child: Child = { spec, index, pid, ended: Promise.reject(new Error('not started')) }
    child.ended.catch(() => {})
    child.ended = this.#processes.wait(pid).then((exit) => ({ child, exit, pid }))
    this.#children.push(child)
    this.#children.sort((a, b) => a.index - b.index)
  }

  #removeChild(child: Child): void {
    this.#children.splice(this.#children.indexOf(child), 1)
  }

  /** Stops children in reverse order. Kills a child that does not end in time. */
  async #stop(children: readonly Child[]): Promise<void> {
    for (const child of children.toReversed()) {
      this.#kill(child.pid, 'SIGTERM')
      const cancel = new AbortController()
      const patience = delay(this.#spec.shutdownMs ?? SHUTDOWN_TIMEOUT_MS, 'late', { signal: cancel.signal })
      patience.catch(() => {})
      if ((await Promise.race([child.ended, patience])) === 'late') this.#kill(child.pid, 'SIGKILL')
      cancel.abort()
      await child.ended
      this.#removeChild(child)
    }
  }

  #kill(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
    try {
      this.#processes.kill(pid, signal)
    } catch (error) {
      // The child has just ended by itself.
      if (!isVfsError(error, 'ENOENT')) throw error
    }
  }
}

function log(process: Process, text: string): void {
  process.emit({ kind: 'log', text })
}
