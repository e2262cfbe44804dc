import type { AgentShelf } from '../../agents/index.ts'
import type { Crontab } from '../../devices/cron/index.ts'
import type { Tty } from '../../devices/tty/index.ts'
import {
  type DeviceContext,
  type DeviceFile,
  type Kernel,
  O_RDWR,
  type OpenMode,
  request,
  type Signal,
  type SpawnOptions,
  type StepFiles,
  type StepRecord,
} from '../../kernel/index.ts'
import { type Caller, type FileSystem, VfsError } from '../../vfs/index.ts'
import type { Namespace } from '../index.ts'
import { chosenAgent } from './agent-choice.ts'
import type { EventBook } from './event-book.ts'
import { type GivenScript, keepScript } from './given-script.ts'
import type { McpServers } from './mcp-servers.ts'
import type { ProcessRecord, ProcessRecords } from './process-records.ts'
import type { RecordedProcesses } from './recorded-processes.ts'

/** The person at the terminal does not end. */
const NEVER = new AbortController().signal

/** A process as it is asked for. */
export interface AgentSpawn {
  readonly intent: string
  readonly agent?: string | undefined
  readonly provider?: string | undefined
  readonly model?: string | undefined
  /** Tokens; 0 for no limit. */
  readonly budget?: number | undefined
  /** Skills besides those of the agent. */
  readonly skills?: readonly string[] | undefined
  /** The vault it works on a fork of; it has no workspace when absent. */
  readonly vault?: string | undefined
  /** What it is answered in place of a model. */
  readonly script?: GivenScript | undefined
  readonly max_steps?: number | undefined
}

/** A process that was just started. */
export interface SpawnedAgent {
  readonly pid: number
  readonly uuid: string
  readonly provider: string
  readonly model: string
  readonly fork: string | null
}

/** A process as it is now. */
export interface ProcessStatus extends Omit<ProcessRecord, 'state'> {
  readonly state: ProcessRecord['state'] | 'paused'
  readonly elapsed_ms: number
  readonly step: number
  readonly max_steps: number
}

/** What the kernel of a home is made of. */
export interface AgentKernelParts {
  readonly kernel: Kernel
  readonly records: ProcessRecords
  readonly steps: StepFiles
  readonly events: EventBook
  /** Where scripts are put that are given with a process. */
  readonly scripts: FileSystem
  /** What the person at the terminal sees. */
  readonly person: Namespace
  readonly processes: RecordedProcesses
  readonly shelf: AgentShelf
  readonly tty: Tty
  readonly crontab: Crontab
  readonly mcp: McpServers
  close(): Promise<void>
}

/** The processes of a home: those that run, and what is known of those that ran. */
export class AgentKernel implements AsyncDisposable {
  readonly #parts: AgentKernelParts

  constructor(parts: AgentKernelParts) {
    this.#parts = parts
  }

  get events(): EventBook {
    return this.#parts.events
  }

  get person(): Namespace {
    return this.#parts.person
  }

  /** Questions of processes. */
  get tty(): Tty {
    return this.#parts.tty
  }

  get shelf(): AgentShelf {
    return this.#parts.shelf
  }

  /** Who is at the terminal, to pass with operations on what they see. */
  get asPerson(): { readonly caller: Caller } {
    return { caller: { kind: 'context', context: this.#parts.person.context } }
  }

  /** For whom devices are opened that no process opens. */
  get asDeviceUser(): DeviceContext {
    return { pid: 0, ...this.asPerson, fs: this.person.fs, signal: NEVER }
  }

  get crontab(): Crontab {
    return this.#parts.crontab
  }

  /** The MCP servers of agents. */
  get mcp(): McpServers {
    return this.#parts.mcp
  }

  /** How many run. */
  get running(): number {
    return this.#parts.kernel.table.all().filter(({ state }) => state !== 'zombie' && state !== 'dead').length
  }

  /** ENOENT for an agent, a skill, a vault or a provider there is not. */
  async spawn({ script, ...spawn }: AgentSpawn): Promise<SpawnedAgent> {
    const { kernel, shelf, scripts } = this.#parts
    const options: SpawnOptions = {
      agent: await chosenAgent(shelf, spawn.agent, spawn.skills ?? []),
      provider: script === undefined ? spawn.provider : `script/${await keepScript(scripts, script)}`,
      model: spawn.model,
      contextBudget: spawn.budget,
      vault: spawn.vault,
      maxSteps: spawn.max_steps,
    }
    const pid = await kernel.processes.spawn(spawn.intent, options)
    const { uuid, provider, model, fork } = this.#record(pid)
    return { pid, uuid, provider, model, fork }
  }

  /** Whether a process runs. ENOENT for one there never was. */
  isRunning(pid: number): boolean {
    return this.#record(pid).state === 'running'
  }

  /** Writes a request to a device for the person at the terminal; what it answers, read as JSON where it is. */
  async call(path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    const file = await this.open(path, O_RDWR, signal)
    try {
      return parsed(await request(file, body, signal))
    } finally {
      await file.close()
    }
  }

  /** Opens a device for the person at the terminal. The signal ends what it is asked. ENOENT. */
  open(path: string, mode: OpenMode, signal: AbortSignal): Promise<DeviceFile> {
    return this.#parts.kernel.devices.open(path, mode, { ...this.asDeviceUser, signal })
  }

  /** Those that run; with `all` those that ran too. */
  ps(all: boolean): ProcessStatus[] {
    const known = this.#parts.records.all()
    return known.filter(({ state }) => all || state === 'running').map((record) => this.#statusOf(record))
  }

  /** ENOENT for one that has ended. */
  kill(pid: number, signal: Signal): void {
    if (this.#record(pid).state !== 'running') {
      throw new VfsError('ENOENT', `/proc/${pid}`, { op: 'kill', detail: `process ${pid} has ended` })
    }
    this.#parts.kernel.processes.kill(pid, signal)
  }

  /** How it ended; as often as anybody asks, also long after. ENOENT. */
  async wait(pid: number): Promise<ProcessStatus> {
    this.#record(pid)
    const running = this.#parts.kernel.table.find(pid)
    await running?.done
    return this.#statusOf(this.#record(pid))
  }

  /** ENOENT. */
  async steps(pid: number): Promise<StepRecord[]> {
    return this.#parts.steps.read(this.#record(pid).uuid)
  }

  /** Ends every process, and closes what was opened. Twice is as good as once. */
  close(): Promise<void> {
    return this.#parts.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #record(pid: number): ProcessRecord {
    const record = this.#parts.records.find(pid)
    if (record !== undefined) return record
    throw new VfsError('ENOENT', `/proc/${pid}`, { op: 'process', detail: `there is no process ${pid}` })
  }

  #statusOf(record: ProcessRecord): ProcessStatus {
    const { kernel, processes } = this.#parts
    const { step, total } = processes.progressOf(record.pid)
    const running = record.state === 'running' ? kernel.table.find(record.pid) : undefined
    if (running === undefined) {
      return { ...record, elapsed_ms: elapsedOf(record), step, max_steps: total }
    }
    return {
      ...record,
      state: running.isPaused ? 'paused' : 'running',
      tokens_used: running.tokensUsed,
      elapsed_ms: running.elapsed,
      step,
      max_steps: total,
    }
  }
}

function elapsedOf({ started_at, ended_at }: ProcessRecord): number {
  return ended_at === null ? 0 : Date.parse(ended_at) - Date.parse(started_at)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
