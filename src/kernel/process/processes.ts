import { isVfsError, VfsError } from '../../vfs/index.ts'
import type { Contexts } from '../context/index.ts'
import type { ProcessFiles } from '../descriptor/process-files.ts'
import { O_RDWR } from '../device/index.ts'
import type { ProcGroupManager } from '../group/process-groups.ts'
import { type LoopEnvironment, ModelFallbacks, reasonLoop } from '../loop/index.ts'
import type { Signal, SignalManager } from '../signal/index.ts'
import type { KernelCallbacks } from './callbacks.ts'
import { createFailure, type ExitStatus } from './exit-status.ts'
import { mountServers, unmountServers } from './mcp-servers.ts'
import { Process } from './process.ts'
import { createSpec, type ProcessDefaults } from './process-spec.ts'
import type { ProcessTable } from './process-table.ts'
import type { Reaper } from './reaper.ts'
import { Rollback } from './rollback.ts'
import type { MountManager, ProcessEnvironment, ProcessProgram, SpawnOptions } from './spawn-options.ts'

/** Starts, signals and waits for processes. */
export interface ProcessManager {
  /** Starts a process and returns its number. Leaves nothing behind if the start fails or is killed. */
  spawn(intent: string, options?: SpawnOptions): Promise<number>
  /** Sends a signal. ENOENT for a process that has ended. */
  kill(pid: number, signal: Signal): void
  /** Waits until the process ends, and returns its exit status once. ENOENT if somebody has waited for it already. */
  wait(pid: number): Promise<ExitStatus>
}

/** Parts of the kernel that processes use. */
export interface ProcessDependencies {
  readonly table: ProcessTable
  readonly contexts: Contexts
  readonly files: ProcessFiles
  readonly signals: SignalManager
  readonly groups: ProcGroupManager
  readonly reaper: Reaper
  readonly mounts: MountManager | undefined
  readonly callbacks: Required<KernelCallbacks>
  readonly defaults: ProcessDefaults
  createEnvironment(pid: number, intent: string, options: SpawnOptions): Promise<ProcessEnvironment>
  loop(): LoopEnvironment
}

/** Limit of exit statuses that nobody has waited for. */
const MAX_UNCLAIMED = 1000

/** Starts and ends processes. */
export class Processes implements ProcessManager {
  readonly #dependencies: ProcessDependencies
  readonly #starting = new Set<Promise<number>>()
  /** Exit statuses of reaped processes that nobody has waited for yet. */
  readonly #exits = new Map<number, ExitStatus>()
  #isClosed = false

  constructor(dependencies: ProcessDependencies) {
    this.#dependencies = dependencies
  }

  async spawn(intent: string, options: SpawnOptions = {}): Promise<number> {
    const { table } = this.#dependencies
    this.#assertOpen()
    if (options.parent !== undefined && options.parent !== 0) table.getAlive(options.parent)
    const started = this.#startProcess(table.allocatePid(), intent, options)
    this.#starting.add(started)
    try {
      return await started
    } finally {
      this.#starting.delete(started)
    }
  }

  /** Allows no more spawns. Resolves once pending spawns have started or rolled back. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#starting)
  }

  kill(pid: number, signal: Signal): void {
    this.#dependencies.signals.signal(pid, signal)
  }

  async wait(pid: number): Promise<ExitStatus> {
    const { table, reaper } = this.#dependencies
    const unclaimed = this.#exits.get(pid)
    if (unclaimed !== undefined) {
      this.#exits.delete(pid)
      return unclaimed
    }
    const process = table.get(pid)
    const exit = await process.done
    await reaper.reap(process)
    this.#exits.delete(pid)
    return exit
  }

  async #startProcess(pid: number, intent: string, options: SpawnOptions): Promise<number> {
    const { callbacks, createEnvironment } = this.#dependencies
    const rollback = new Rollback()
    try {
      const environment = await createEnvironment(pid, intent, options)
      rollback.add(() => environment.close())
      this.#assertOpen()
      const process = this.#createProcess(pid, intent, options, environment, rollback)
      const program = await this.#prepareProgram(process, options, rollback)
      await this.#describeEnvironment(process, options, environment)
      process.ended = this.#runProcess(process, program, environment)
      process.emit({ kind: 'spawned', detail: intent })
      callbacks.onSpawn(pid, intent, process.spec.provider, process.spec.model)
      return pid
    } catch (error) {
      await rollback.run()
      throw error
    }
  }

  /** Creates a process and adds it to the table at once, so that it can be killed during preparation. */
  #createProcess(
    pid: number,
    intent: string,
    options: SpawnOptions,
    environment: ProcessEnvironment,
    rollback: Rollback,
  ): Process {
    const { table, contexts, reaper, defaults } = this.#dependencies
    const process = new Process(createSpec(pid, intent, options, environment, defaults))
    process.contextId = contexts.ctxAlloc(defaults.contextSize)
    table.add(process)
    rollback.add(() => process.abandon(createFailure('the process could not be started')))
    rollback.add(() => reaper.abandon(process))
    this.#joinGroups(process, options)
    const prompts = [options.systemPrompt, options.agent?.systemPrompt].filter((prompt) => prompt)
    contexts.setSystemPrompt(process.contextId, prompts.join('\n\n'))
    const { messages = [{ role: 'user', content: intent }] } = options
    contexts.get(process.contextId).fill(messages)
    return process
  }

  /** Joins groups before the process runs, so that a signal to a group misses no child of a member. */
  #joinGroups({ pid }: Process, { parent = 0, groups = [] }: SpawnOptions): void {
    const { table, groups: groupManager } = this.#dependencies
    for (const group of [...groups, ...(table.find(parent)?.groups ?? [])]) groupManager.joinGroup(pid, group)
  }

  async #prepareProgram(
    process: Process,
    options: SpawnOptions,
    rollback: Rollback,
  ): Promise<ProcessProgram> {
    const { mounts } = this.#dependencies
    rollback.add(() => unmountServers(process, mounts))
    rollback.add(() => process.descriptors.closeAll())
    try {
      await mountServers(process, mounts, options.agent)
      const program = options.program ?? (await this.#createLoopProgram(process, options))
      process.signal.throwIfAborted()
      return program
    } catch (error) {
      throw process.signal.aborted ? createKilledError(process) : error
    }
  }

  #assertOpen(): void {
    if (!this.#isClosed) return
    throw new VfsError('EUNAVAILABLE', '/proc', { op: 'spawn', detail: 'the kernel is shutting down' })
  }

  /** Appends a description of the environment to the system prompt. A program needs none. */
  async #describeEnvironment(
    { contextId, spec: { contextBudget, maxSteps } }: Process,
    options: SpawnOptions,
    environment: ProcessEnvironment,
  ): Promise<void> {
    if (options.program !== undefined) return
    const description = (await environment.describe?.({ maxSteps, contextBudget })) ?? ''
    const context = this.#dependencies.contexts.get(contextId)
    context.systemPrompt = [context.systemPrompt, description].filter((part) => part !== '').join('\n\n')
  }

  async #createLoopProgram(process: Process, options: SpawnOptions): Promise<ProcessProgram> {
    const { files, defaults, loop } = this.#dependencies
    const { spec } = process
    const openModels = []
    for (const { provider, model } of [spec, ...spec.fallbacks]) {
      openModels.push({
        provider,
        model,
        fd: await files.openForKernel(process, `/dev/llm/${provider}`, O_RDWR),
      })
    }
    const models = new ModelFallbacks(openModels)
    const { timeoutMs = defaults.timeoutMs } = options
    const { retryMs } = defaults
    const { maxSteps } = spec
    return (running) => reasonLoop(running, loop(), { maxSteps, timeoutMs, retryMs, models })
  }

  /** Runs a process to its end. In every case its files are closed and it becomes a zombie. */
  async #runProcess(
    process: Process,
    program: ProcessProgram,
    environment: ProcessEnvironment,
  ): Promise<void> {
    const { callbacks, mounts } = this.#dependencies
    process.start()
    const exit = await runProgram(process, program)
    await process.descriptors.closeAll()
    await unmountServers(process, mounts)
    try {
      await environment.close()
    } catch {
      // A file that cannot be closed does not keep the process from ending.
    }
    process.terminate(exit)
    callbacks.onComplete(process.pid, process.result, exit)
    if (exit.code !== 0) callbacks.onError(process.pid, new Error(exit.reason))
    // A parent waits for its children. Nobody has to wait for a process without one.
    if (process.ppid === 0) void this.#reapUnclaimed(process, exit)
  }

  async #reapUnclaimed(process: Process, exit: ExitStatus): Promise<void> {
    this.#exits.set(process.pid, exit)
    const [oldest] = this.#exits.keys()
    if (oldest !== undefined && this.#exits.size > MAX_UNCLAIMED) this.#exits.delete(oldest)
    await this.#dependencies.reaper.reap(process)
  }
}

async function runProgram(process: Process, program: ProcessProgram): Promise<ExitStatus> {
  try {
    return await program(process)
  } catch (error) {
    if (process.signal.aborted) return createFailure(formatKillReason(process))
    return createFailure(formatFailure(error))
  }
}

/** Formats an error for people, without the system call in which it occurred. */
function formatFailure(error: unknown): string {
  if (isVfsError(error) && error.detail !== undefined) return `${error.code}: ${error.detail} (${error.path})`
  return error instanceof Error ? error.message : String(error)
}

function createKilledError(process: Process): VfsError {
  const detail = `the process was ${formatKillReason(process)} before it started`
  return new VfsError('EUNAVAILABLE', `/proc/${process.pid}`, { op: 'spawn', detail })
}

function formatKillReason({ signal }: Process): string {
  return `killed: ${signal.reason instanceof Error ? signal.reason.message : String(signal.reason)}`
}
