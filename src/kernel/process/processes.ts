import type { Contexts } from '../context/index.ts'
import type { Files } from '../descriptor/files.ts'
import { O_RDWR } from '../device/index.ts'
import { type LoopSurroundings, reasonLoop } from '../loop/index.ts'
import type { Signal, SignalManager } from '../signal/index.ts'
import type { KernelCallbacks } from './callbacks.ts'
import { type ExitStatus, failure } from './exit.ts'
import { Process } from './process.ts'
import type { ProcessTable } from './process-table.ts'
import type { Reaper } from './reaper.ts'
import { Rollback } from './rollback.ts'
import type { MountManager, Program, SpawnOptions, Surroundings } from './spawn-options.ts'
import { type ProcessDefaults, specOf } from './spec.ts'

export interface ProcessManager {
  /** Starts a process; its number. Nothing is left of one that cannot be started. */
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
  readonly callbacks: KernelCallbacks
  readonly defaults: ProcessDefaults
  surroundingsOf(pid: number, intent: string, options: SpawnOptions): Promise<Surroundings>
  loop(): LoopSurroundings
}

/** Begins and ends processes. */
export class Processes implements ProcessManager {
  readonly #parts: ProcessParts

  constructor(parts: ProcessParts) {
    this.#parts = parts
  }

  async spawn(intent: string, options: SpawnOptions = {}): Promise<number> {
    const { table, callbacks } = this.#parts
    if (options.parent !== undefined && options.parent !== 0) table.alive(options.parent)
    const pid = table.nextPid()
    const rollback = new Rollback()
    try {
      const surroundings = await this.#parts.surroundingsOf(pid, intent, options)
      rollback.add(() => surroundings.close())
      const process = await this.#prepare(pid, intent, options, surroundings, rollback)
      const program = options.program ?? (await this.#reasoning(process, options))
      process.ended = this.#live(process, program, surroundings)
      process.tell({ kind: 'spawned', detail: intent })
    } catch (error) {
      await rollback.run()
      throw error
    }
    const { provider, model } = table.get(pid).spec
    callbacks.onSpawn?.(pid, intent, provider, model)
    return pid
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

  async #prepare(
    pid: number,
    intent: string,
    options: SpawnOptions,
    surroundings: Surroundings,
    rollback: Rollback,
  ): Promise<Process> {
    const { table, contexts, defaults } = this.#parts
    const process = new Process(specOf(pid, intent, options, surroundings, defaults))
    process.contextId = contexts.ctxAlloc(defaults.contextSize)
    rollback.add(() => contexts.ctxFree(process.contextId))
    const prompts = [options.systemPrompt, options.agent?.systemPrompt].filter((prompt) => prompt)
    contexts.setSystemPrompt(process.contextId, prompts.join('\n\n'))
    contexts.appendMessage(process.contextId, 'user', intent)
    rollback.add(() => this.#unmountServers(process))
    await this.#mountServers(process, options)
    table.add(process)
    rollback.add(() => table.remove(pid))
    rollback.add(() => process.descriptors.closeAll())
    return process
  }

  /** All at once; if one fails, none stays. */
  async #mountServers(process: Process, { agent }: SpawnOptions): Promise<void> {
    const { mounts } = this.#parts
    const servers = Object.entries(agent?.mcp ?? {})
    if (mounts === undefined || servers.length === 0) return
    const results = await Promise.allSettled(
      servers.map(async ([name, config]) => {
        const path = `/mnt/mcp/${process.pid}-${name}`
        await mounts.mount(path, config, process.signal)
        process.mcpMounts.push(path)
        process.grantedDevices.push(path)
      }),
    )
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  /** One that cannot be unmounted does not hold the others up. */
  async #unmountServers(process: Process): Promise<void> {
    const { mounts } = this.#parts
    await Promise.allSettled(process.mcpMounts.map(async (path) => mounts?.unmount(path)))
    process.mcpMounts.length = 0
  }

  async #reasoning(process: Process, { agent, ...options }: SpawnOptions): Promise<Program> {
    const { files, defaults, loop } = this.#parts
    const device = `/dev/llm/${process.spec.provider}`
    const modelFd = await files.openForKernel(process, device, O_RDWR)
    const maxSteps = options.maxSteps ?? agent?.maxSteps ?? defaults.maxSteps
    const timeoutMs = options.timeoutMs ?? defaults.timeoutMs
    return (running) => reasonLoop(running, loop(), { maxSteps, timeoutMs, modelFd })
  }

  /** From its first moment to its last: whatever way it ends, its files are closed and it is a zombie. */
  async #live(process: Process, program: Program, surroundings: Surroundings): Promise<void> {
    const { callbacks } = this.#parts
    process.start()
    const exit = await ranToItsEnd(process, program)
    await process.descriptors.closeAll()
    await this.#unmountServers(process)
    // That something cannot be closed does not keep it from ending.
    await surroundings.close().catch(() => {})
    process.terminate(exit)
    callbacks.onComplete?.(process.pid, process.result, exit)
    if (exit.code !== 0) callbacks.onError?.(process.pid, new Error(exit.reason))
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

function reasonOf({ signal }: Process): string {
  return `killed: ${signal.reason instanceof Error ? signal.reason.message : String(signal.reason)}`
}
