import { VfsError } from '../../vfs/index.ts'
import type { Contexts } from '../context/index.ts'
import type { Files } from '../descriptor/files.ts'
import { O_RDWR } from '../device/index.ts'
import { type LoopSurroundings, Models, reasonLoop } from '../loop/index.ts'
import type { Signal, SignalManager } from '../signal/index.ts'
import type { KernelCallbacks } from './callbacks.ts'
import { type ExitStatus, failure } from './exit.ts'
import { mountServers, unmountServers } from './own-servers.ts'
import { Process } from './process.ts'
import type { ProcessTable } from './process-table.ts'
import type { Reaper } from './reaper.ts'
import { Rollback } from './rollback.ts'
import type { MountManager, Program, SpawnOptions, Surroundings } from './spawn-options.ts'
import { type ProcessDefaults, specOf } from './spec.ts'

export interface ProcessManager {
  /** Starts a process; its number. Nothing is left of one that cannot be started, or is killed before it is. */
  spawn(intent: string, options?: SpawnOptions): Promise<number>
  /** ENOENT for one that has ended. */
  kill(pid: number, signal: Signal): void
  /** Waits for its end and takes it apart. Whoever waits too late gets ENOENT. */
  wait(pid: number): Promise<ExitStatus>
}

/** What processes are made with. */
export interface ProcessParts {
  readonly table: ProcessTable
  readonly contexts: Contexts
  readonly files: Files
  readonly signals: SignalManager
  readonly reaper: Reaper
  readonly mounts: MountManager | undefined
  readonly callbacks: Required<KernelCallbacks>
  readonly defaults: ProcessDefaults
  surroundingsOf(pid: number, intent: string, options: SpawnOptions): Promise<Surroundings>
  loop(): LoopSurroundings
}

/** Begins and ends processes. */
export class Processes implements ProcessManager {
  readonly #parts: ProcessParts
  readonly #beginning = new Set<Promise<number>>()
  #isClosed = false

  constructor(parts: ProcessParts) {
    this.#parts = parts
  }

  async spawn(intent: string, options: SpawnOptions = {}): Promise<number> {
    const { table } = this.#parts
    this.#assertOpen()
    if (options.parent !== undefined && options.parent !== 0) table.alive(options.parent)
    const begun = this.#begin(table.nextPid(), intent, options)
    this.#beginning.add(begun)
    try {
      return await begun
    } finally {
      this.#beginning.delete(begun)
    }
  }

  /** Begins no more; those about to begin have begun, or are taken back, when it is over. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#beginning)
  }

  kill(pid: number, signal: Signal): void {
    this.#parts.signals.signal(pid, signal)
  }

  async wait(pid: number): Promise<ExitStatus> {
    const process = this.#parts.table.get(pid)
    const exit = await process.done
    await this.#parts.reaper.reap(process)
    return exit
  }

  async #begin(pid: number, intent: string, options: SpawnOptions): Promise<number> {
    const { callbacks, surroundingsOf } = this.#parts
    const rollback = new Rollback()
    try {
      const surroundings = await surroundingsOf(pid, intent, options)
      rollback.add(() => surroundings.close())
      this.#assertOpen()
      const process = this.#made(pid, intent, options, surroundings, rollback)
      const program = await this.#prepared(process, options, rollback)
      process.ended = this.#live(process, program, surroundings)
      process.tell({ kind: 'spawned', detail: intent })
      callbacks.onSpawn(pid, intent, process.spec.provider, process.spec.model)
      return pid
    } catch (error) {
      await rollback.run()
      throw error
    }
  }

  /** In the table from now on, so that it can be killed while it is prepared. */
  #made(
    pid: number,
    intent: string,
    options: SpawnOptions,
    surroundings: Surroundings,
    rollback: Rollback,
  ): Process {
    const { table, contexts, reaper, defaults } = this.#parts
    const process = new Process(specOf(pid, intent, options, surroundings, defaults))
    process.contextId = contexts.ctxAlloc(defaults.contextSize)
    table.add(process)
    rollback.add(() => process.abandon(failure('it could not be started')))
    rollback.add(() => reaper.abandon(process))
    const prompts = [options.systemPrompt, options.agent?.systemPrompt].filter((prompt) => prompt)
    contexts.setSystemPrompt(process.contextId, prompts.join('\n\n'))
    contexts.appendMessage(process.contextId, 'user', intent)
    return process
  }

  async #prepared(process: Process, options: SpawnOptions, rollback: Rollback): Promise<Program> {
    const { mounts } = this.#parts
    rollback.add(() => unmountServers(process, mounts))
    rollback.add(() => process.descriptors.closeAll())
    try {
      await mountServers(process, mounts, options.agent)
      const program = options.program ?? (await this.#reasoning(process, options))
      process.signal.throwIfAborted()
      return program
    } catch (error) {
      throw process.signal.aborted ? killed(process) : error
    }
  }

  #assertOpen(): void {
    if (!this.#isClosed) return
    throw new VfsError('EUNAVAILABLE', '/proc', { op: 'spawn', detail: 'the kernel is shutting down' })
  }

  async #reasoning(process: Process, { agent, ...options }: SpawnOptions): Promise<Program> {
    const { files, defaults, loop } = this.#parts
    const { spec } = process
    const open = []
    for (const { provider, model } of [spec, ...spec.fallbacks]) {
      open.push({ provider, model, fd: await files.openForKernel(process, `/dev/llm/${provider}`, O_RDWR) })
    }
    const models = new Models(open)
    const maxSteps = options.maxSteps ?? agent?.maxSteps ?? defaults.maxSteps
    const timeoutMs = options.timeoutMs ?? defaults.timeoutMs
    return (running) => reasonLoop(running, loop(), { maxSteps, timeoutMs, models })
  }

  /** From its first moment to its last: whatever way it ends, its files are closed and it is a zombie. */
  async #live(process: Process, program: Program, surroundings: Surroundings): Promise<void> {
    const { callbacks, mounts } = this.#parts
    process.start()
    const exit = await ranToItsEnd(process, program)
    await process.descriptors.closeAll()
    await unmountServers(process, mounts)
    try {
      await surroundings.close()
    } catch {
      // That something cannot be closed does not keep it from ending.
    }
    process.terminate(exit)
    callbacks.onComplete(process.pid, process.result, exit)
    if (exit.code !== 0) callbacks.onError(process.pid, new Error(exit.reason))
  }
}

async function ranToItsEnd(process: Process, program: Program): Promise<ExitStatus> {
  try {
    return await program(process)
  } catch (error) {
    if (process.signal.aborted) return failure(reasonOf(process))
    return failure(error instanceof Error ? error.message : String(error))
  }
}

function killed(process: Process): VfsError {
  const detail = `it was ${reasonOf(process)} before it began`
  return new VfsError('EUNAVAILABLE', `/proc/${process.pid}`, { op: 'spawn', detail })
}

function reasonOf({ signal }: Process): string {
  return `killed: ${signal.reason instanceof Error ? signal.reason.message : String(signal.reason)}`
}
