import type { AgentCatalog } from '../agents/index.ts'
import type { Crontab } from '../devices/cron/index.ts'
import type { Tty } from '../devices/tty/index.ts'
import {
  type DeviceContext,
  type DeviceFile,
  type Kernel,
  O_RDWR,
  type OpenMode,
  type Redactor,
  type Signal,
  type StepFiles,
  type StepRecord,
  sendDeviceRequest,
} from '../kernel/index.ts'
import type { Namespace } from '../namespace/index.ts'
import { type Caller, type FileSystem, VfsError } from '../vfs/index.ts'
import type { CheckResult } from './check-process.ts'
import type { EventHistory, MissedEvents } from './event-history.ts'
import type { McpServers } from './mcp-servers.ts'
import type { ProcessFamily } from './process-family.ts'
import { ProcessOutput } from './process-output.ts'
import type { ProcessRecord, ProcessRecords } from './process-records.ts'
import { getProcessStatus, type ProcessStatus } from './process-status.ts'
import { continueProcess, createResumption } from './restart-point.ts'
import { type AgentSpawn, type AgentSupervision, resolveSpawnOptions } from './spawn-request.ts'
import type { LogLine, TraceLine } from './trace-line.ts'

/** The person at the terminal never ends. */
const NEVER_ABORTED = new AbortController().signal
const SECOND_MS = 1000

/** A process that was just started. */
export interface SpawnedAgent {
  readonly pid: number
  readonly uuid: string
  /** Empty for a supervisor, which has no model. */
  readonly provider: string
  readonly model: string
  readonly fork: string | null
}

/** Parts of a home's kernel. */
export interface AgentKernelParts {
  readonly kernel: Kernel
  readonly records: ProcessRecords
  readonly steps: StepFiles
  readonly events: EventHistory
  readonly redactor: Redactor
  /** File system for scripts passed with a process. */
  readonly scripts: FileSystem
  /** Namespace of the person at the terminal. */
  readonly person: Namespace
  readonly catalog: AgentCatalog
  readonly tty: Tty
  readonly crontab: Crontab
  readonly mcp: McpServers
  readonly family: Pick<ProcessFamily, 'merge'>
  /** Runs a command on a copy of the files of a fork. */
  check(fork: string | null, command: string, signal: AbortSignal): Promise<CheckResult>
  close(): Promise<void>
}

/** Processes of a home: the running ones, and records of those that ended. */
export class AgentKernel implements AsyncDisposable {
  readonly #parts: AgentKernelParts
  readonly #output: ProcessOutput

  constructor(parts: AgentKernelParts) {
    this.#parts = parts
    this.#output = new ProcessOutput(parts)
  }

  /** The kernel itself: signals, messages, pipes, groups, threads, coroutines and supervisors. */
  get kernel(): Kernel {
    return this.#parts.kernel
  }

  get person(): Namespace {
    return this.#parts.person
  }

  /** Questions of processes. */
  get tty(): Tty {
    return this.#parts.tty
  }

  get catalog(): AgentCatalog {
    return this.#parts.catalog
  }

  /** Identity of the person at the terminal, for operations on their namespace. */
  get asPerson(): { readonly caller: Caller } {
    return { caller: { kind: 'context', context: this.#parts.person.context } }
  }

  /** Context for devices that no process opens. */
  get asDeviceUser(): DeviceContext {
    return { pid: 0, ...this.asPerson, fs: this.person.fs, signal: NEVER_ABORTED }
  }

  /** Redacts the secrets of this program from everything that is shown. */
  get redactor(): Redactor {
    return this.#parts.redactor
  }

  get crontab(): Crontab {
    return this.#parts.crontab
  }

  /** The MCP servers of agents. */
  get mcp(): McpServers {
    return this.#parts.mcp
  }

  /** Number of running processes. */
  get running(): number {
    return this.#parts.kernel.table.list().filter(({ state }) => state !== 'zombie' && state !== 'dead')
      .length
  }

  /** Starts a process. Throws ENOENT for an unknown agent, skill, vault or provider. */
  async spawn(spawn: AgentSpawn): Promise<SpawnedAgent> {
    const { from, intent } = spawn
    const continued =
      from && continueProcess(this.#getRecord(from.pid), await this.steps(from.pid), from, intent)
    const options = await resolveSpawnOptions(this.#parts, spawn, continued)
    return this.#toSpawned(await this.#parts.kernel.processes.spawn(intent, options))
  }

  /**
   * Starts a process that keeps others running. Each run of a child works on a fork of the supervisor's files; once
   * none is left, the work of the last runs that succeeded is merged into them. ENOENT as `spawn`.
   */
  async supervise({ children, ...supervision }: AgentSupervision): Promise<SpawnedAgent> {
    const { kernel } = this.#parts
    const specs = children.map(async ({ restart, ...child }) => ({
      intent: child.intent,
      ...(restart !== undefined && { restart }),
      options: await resolveSpawnOptions(this.#parts, child),
    }))
    const { name, strategy, max_restarts: restarts, within, vault, merge, groups } = supervision
    const pid = await kernel.spawnSupervisor(
      {
        name,
        strategy,
        children: await Promise.all(specs),
        limits: {
          ...(restarts !== undefined && { restarts }),
          ...(within !== undefined && { withinMs: within * SECOND_MS }),
        },
        finish: (process, pids) => this.#combineChildren(process.pid, pids),
      },
      { vault, merge, groups },
    )
    return this.#toSpawned(pid)
  }

  /** Merges the files of children into those of their parent, and returns their results. ECONFLICT. */
  async #combineChildren(parent: number, children: readonly number[]): Promise<string> {
    const records = children.map((pid) => this.#getRecord(pid))
    for (const { pid, fork } of records)
      if (fork !== null) await this.#parts.family.merge(parent, pid, 'fail')
    return records
      .map(({ result }) => result)
      .filter((result) => result !== '')
      .join('\n\n')
  }

  /**
   * Makes a process go on: a paused one as it is, and one that failed or was lost as a new process from its last step,
   * with its settings and what is left of its limits. EINVAL if it runs, is done or has used up a limit, ENOENT.
   */
  async resume(pid: number): Promise<SpawnedAgent> {
    const record = this.#getRecord(pid)
    if (record.state !== 'running') return this.spawn(createResumption(record, await this.steps(pid)))
    if (this.#parts.kernel.table.get(pid).isPaused) {
      this.#parts.kernel.processes.kill(pid, 'SIGRESUME')
      return this.#toSpawned(pid)
    }
    throw new VfsError('EINVAL', `/proc/${pid}`, { op: 'resume', detail: `process ${pid} is not paused` })
  }

  /**
   * Runs a command on a copy of the files of a process. Throws ENOENT if the process never existed, EACCES if policy
   * refuses the command, ENOTSUP if the process has no workspace.
   */
  check(pid: number, command: string, signal: AbortSignal): Promise<CheckResult> {
    return this.#parts.check(this.#getRecord(pid).fork, command, signal)
  }

  /** Reports whether a process runs. Throws ENOENT if it never existed. */
  isRunning(pid: number): boolean {
    return this.#getRecord(pid).state === 'running'
  }

  /** Writes a request to a device for the person at the terminal; returns the response, parsed if it is JSON. */
  async call(path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    const file = await this.open(path, O_RDWR, signal)
    try {
      return parseJsonOrText(await sendDeviceRequest(file, body, signal))
    } finally {
      await file.close()
    }
  }

  /**
   * Opens a device for the person at the terminal. The signal cancels its requests. Throws ENOENT if there is no
   * device.
   */
  open(path: string, mode: OpenMode, signal: AbortSignal): Promise<DeviceFile> {
    return this.#parts.kernel.devices.open(path, mode, { ...this.asDeviceUser, signal })
  }

  /** Lists running processes; with `all` also ended ones. */
  ps(all: boolean): ProcessStatus[] {
    return this.#parts.records
      .all()
      .filter(({ state }) => all || state === 'running')
      .map((record) => getProcessStatus(record, this.#parts))
  }

  /** Sends a signal. Throws ENOENT if the process has ended. */
  kill(pid: number, signal: Signal): void {
    if (this.#getRecord(pid).state !== 'running') {
      throw new VfsError('ENOENT', `/proc/${pid}`, { op: 'kill', detail: `process ${pid} has ended` })
    }
    this.#parts.kernel.processes.kill(pid, signal)
  }

  /** Sends a signal to every process of a group, and returns their numbers. Throws ENOENT if it has no members. */
  killGroup(group: string, signal: Signal): number[] {
    const { groups } = this.#parts.kernel
    const pids = groups.getProcGroup(group)
    groups.signalGroup(group, signal)
    return pids
  }

  /** Waits for a process to end; also works any time later. Throws ENOENT if it never existed. */
  async wait(pid: number): Promise<ProcessStatus> {
    this.#getRecord(pid)
    const running = this.#parts.kernel.table.find(pid)
    await running?.done
    return getProcessStatus(this.#getRecord(pid), this.#parts)
  }

  /** Returns the recorded steps of a process. Throws ENOENT if it never existed. */
  async steps(pid: number): Promise<StepRecord[]> {
    return this.#parts.steps.read(this.#getRecord(pid).uuid)
  }

  /** Returns the last line of a process's log; empty if this program has not run it. */
  readLastLog(pid: number): Promise<string> {
    return this.#output.readLastLog(pid)
  }

  /** Streams the log of a process; with `follow` until it has ended. Throws ENOENT if it never existed. */
  async *logs(pid: number, follow: boolean, signal: AbortSignal): AsyncGenerator<LogLine | MissedEvents> {
    yield* this.#output.logs(this.#getRecord(pid), follow, signal)
  }

  /**
   * Streams the calls of a process, or new ones of all for undefined; with `follow` until it has ended. Throws ENOENT
   * if it never existed.
   */
  async *trace(
    pid: number | undefined,
    follow: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<TraceLine | MissedEvents> {
    yield* this.#output.trace(pid === undefined ? undefined : this.#getRecord(pid), follow, signal)
  }

  /** Ends every process, and closes all resources. Idempotent. */
  close(): Promise<void> {
    return this.#parts.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #getRecord(pid: number): ProcessRecord {
    const record = this.#parts.records.find(pid)
    if (record !== undefined) return record
    throw new VfsError('ENOENT', `/proc/${pid}`, { op: 'process', detail: `there is no process ${pid}` })
  }

  #toSpawned(pid: number): SpawnedAgent {
    const { uuid, provider, model, fork } = this.#getRecord(pid)
    return { pid, uuid, provider, model, fork }
  }
}

function parseJsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
