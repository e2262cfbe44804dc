import { setTimeout as delay } from 'node:timers/promises'
import { isVfsError } from '../../vfs/index.ts'
import { createFailure, EXIT_DONE, type ExitStatus } from '../process/exit-status.ts'
import type { Process } from '../process/process.ts'
import type { ProcessManager } from '../process/processes.ts'
import type { SpawnOptions } from '../process/spawn-options.ts'
import { RestartLimit, type RestartLimits } from './restart-limit.ts'

/** Strategy that selects the children to restart when one ends. */
export type Strategy = 'one_for_one' | 'one_for_all' | 'rest_for_one'

/** Condition for a restart: always, after a failure only, or never. */
export type Restart = 'permanent' | 'transient' | 'temporary'

/** A child that a supervisor keeps running. */
export interface ChildSpec {
  readonly intent: string
  readonly restart?: Restart
  readonly options?: SpawnOptions
}

/** A supervisor: its strategy, children and limits. */
export interface SupervisorSpec {
  readonly strategy: Strategy
  readonly children: readonly ChildSpec[]
  readonly limits?: Partial<RestartLimits>
  /** Time in milliseconds a child may take to end before it is killed. */
  readonly shutdownMs?: number
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

  constructor(spec: SupervisorSpec, processes: ProcessManager) {
    this.#spec = spec
    this.#processes = processes
    this.#limit = new RestartLimit(spec.limits)
  }

  /** Runs until it is stopped, no children are left, or the restart limit is exceeded. */
  async run(process: Process): Promise<ExitStatus> {
    const { promise: stopped, resolve } = Promise.withResolvers<void>()
    process.signal.addEventListener('abort', () => resolve(), { once: true })
    try {
      for (const [index, spec] of this.#spec.children.entries()) await this.#start(process, spec, index)
      while (this.#children.length > 0) {
        const end = await Promise.race([stopped, ...this.#children.map(({ ended }) => ended)])
        if (end === undefined) return createFailure('stopped')
        if (!(await this.#handleExit(process, end.child, end.exit)))
          return createFailure('max_restarts_exceeded')
      }
      return { code: EXIT_DONE, reason: 'completed' }
    } finally {
      await this.#stop([...this.#children])
    }
  }

  /** Returns false if the supervisor must give up. */
  async #handleExit(process: Process, child: Child, exit: ExitStatus): Promise<boolean> {
    const { restart = 'permanent' } = child.spec
    this.#removeChild(child)
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

  async #start({ pid: parent }: Process, spec: ChildSpec, index: number): Promise<void> {
    const pid = await this.#processes.spawn(spec.intent, { ...spec.options, parent })
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
