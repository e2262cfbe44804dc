import { VfsError } from '../vfs/index.ts'
import { Contexts } from './context/index.ts'
import { ProcessFiles } from './descriptor/process-files.ts'
import { DeviceRegistry } from './device/index.ts'
import { ProcessGroups } from './group/process-groups.ts'
import { Ipc } from './ipc/index.ts'
import type { AgentAction, LoopEnvironment } from './loop/index.ts'
import { ToolCalls } from './loop/tool-calls.ts'
import { createSafeCallbacks, type KernelCallbacks } from './process/callbacks.ts'
import { formatChildResult, raceWithAbort } from './process/child-result.ts'
import { HeartbeatMonitor } from './process/heartbeat-monitor.ts'
import type { Process } from './process/process.ts'
import { type ProcessDefaults, processDefaults } from './process/process-spec.ts'
import { ProcessTable } from './process/process-table.ts'
import { Processes } from './process/processes.ts'
import { Reaper } from './process/reaper.ts'
import type { AgentSpec, MountManager, ProcessEnvironment, SpawnOptions } from './process/spawn-options.ts'
import { Signals } from './signal/index.ts'
import type { StepSink } from './step/index.ts'
import { Supervisor, type SupervisorSpec } from './supervisor/index.ts'
import { Coroutines, Threads } from './thread/index.ts'

/** Number of messages that a full context drops at once. */
const DROPPED_MESSAGES = 8

/** Dependencies of a kernel. It knows no device, agent or namespace of its own. */
export interface KernelOptions {
  readonly devices?: DeviceRegistry
  /** Creates the namespace and the identity of a process. */
  readonly createEnvironment: (
    pid: number,
    intent: string,
    options: SpawnOptions,
  ) => Promise<ProcessEnvironment>
  readonly mounts?: MountManager
  readonly steps?: StepSink
  /** Finds an agent by name, for processes that spawn others. ENOENT if there is none. */
  readonly agent?: (name: string) => Promise<AgentSpec>
  /** Returns the body of a skill by name. ENOENT if there is none. */
  readonly skill?: (name: string) => Promise<string>
  readonly callbacks?: KernelCallbacks
  readonly defaults?: Partial<ProcessDefaults>
  /** Last process number of a previous kernel, so that numbers are not reused. 0 when absent. */
  readonly lastPid?: number
  /** Time without an event after which a running process counts as stalled; never when absent. */
  readonly stallMs?: number
}

/** Agents as processes, combined from small parts. Each part can be used alone. */
export class Kernel {
  readonly table: ProcessTable
  readonly contexts: Contexts = new Contexts()
  readonly devices: DeviceRegistry
  readonly files: ProcessFiles
  readonly signals: Signals
  readonly ipc: Ipc
  readonly groups: ProcessGroups
  readonly threads: Threads
  readonly coroutines: Coroutines
  readonly processes: Processes
  readonly mounts: MountManager | undefined
  readonly #options: KernelOptions
  readonly #callbacks: Required<KernelCallbacks>
  readonly #tools: ToolCalls
  readonly #heartbeats: HeartbeatMonitor | undefined

  constructor(options: KernelOptions) {
    this.#options = options
    this.table = new ProcessTable(options.lastPid)
    this.#callbacks = createSafeCallbacks(options.callbacks ?? {}, this.table)
    this.devices = options.devices ?? new DeviceRegistry()
    this.mounts = options.mounts
    this.files = new ProcessFiles(this.table, this.devices)
    this.signals = new Signals(this.table)
    this.ipc = new Ipc(this.table)
    this.groups = new ProcessGroups(this.table, this.signals)
    this.threads = new Threads(this.table)
    this.coroutines = new Coroutines(this.table)
    this.#tools = new ToolCalls(this.devices, this.files)
    const { stallMs } = options
    this.#heartbeats = stallMs === undefined ? undefined : new HeartbeatMonitor(this.table, stallMs)
    const { table, contexts, files, signals, groups, threads, coroutines, mounts } = this
    const reaper = new Reaper(table, contexts, {
      leaveGroups: (process) => groups.leaveAll(process),
      clearThreads: (process) => threads.clear(process),
      clearCoroutines: (process) => coroutines.clear(process),
    })
    this.processes = new Processes({
      table,
      contexts,
      files,
      signals,
      groups,
      reaper,
      mounts,
      callbacks: this.#callbacks,
      defaults: { ...processDefaults, ...options.defaults },
      createEnvironment: options.createEnvironment,
      loop: () => this.#createLoopEnvironment(),
    })
  }

  /** Spawns a process that keeps others running, and returns its number. */
  spawnSupervisor(spec: SupervisorSpec, options: SpawnOptions = {}): Promise<number> {
    const supervisor = new Supervisor(spec, this.processes)
    const { name = 'supervisor' } = spec
    return this.processes.spawn(name, { ...options, program: (process) => supervisor.run(process) })
  }

  /** Kills every process, waits for all of them, and unmounts everything. */
  async shutdown(): Promise<void> {
    for (const process of this.table.list()) process.cancel('shutdown')
    await this.processes.close()
    await Promise.all(this.table.list().map(({ pid }) => this.processes.wait(pid).catch(() => {})))
    await this.mounts?.unmountAll()
    this.#heartbeats?.[Symbol.dispose]()
  }

  #createLoopEnvironment(): LoopEnvironment {
    const { contexts, files } = this
    const { steps = { write: async () => {} } } = this.#options
    return {
      contexts,
      files,
      steps,
      onStep: (process, step, total) => this.#callbacks.onStep(process.pid, step, total),
      listTools: (process) => this.#tools.listTools(process),
      prepareToolCall: (process, tool, input) => this.#tools.prepare(process, tool, input),
      spawnChild: (process, action) => raceWithAbort(process.signal, this.#spawnChild(process, action)),
      specialize: (process, skill) => this.#specialize(process, skill),
      dropOldestMessages: ({ contextId }) => {
        const context = contexts.get(contextId)
        if (context.length >= context.size) context.dropOldest(DROPPED_MESSAGES)
      },
    }
  }

  async #spawnChild(
    { pid: parent, spec: { provider, model, fallbacks }, allowedDevices }: Process,
    { intent, agent: name, wait, ...chosen }: Extract<AgentAction, { action: 'spawn' }>,
  ): Promise<string> {
    const isInherited = name === undefined && chosen.provider === undefined
    // An agent has the devices that its author granted; without one, a child gets no more than its parent.
    const agent = name === undefined ? createHelper(allowedDevices) : await this.#getAgent(name)
    const pid = await this.processes.spawn(intent, {
      parent,
      agent,
      ...(isInherited && { provider, model, fallbacks }),
      ...(chosen.provider !== undefined && { provider: chosen.provider }),
      ...(chosen.model !== undefined && { model: chosen.model }),
    })
    if (!wait) return `Process ${pid} has started. Call wait with its number for its result.`
    const child = this.table.get(pid)
    const exit = await this.processes.wait(pid)
    return formatChildResult(child, exit)
  }

  #getAgent(name: string): Promise<AgentSpec> {
    const { agent } = this.#options
    if (agent !== undefined) return agent(name)
    throw new VfsError('ENOENT', name, { op: 'spawn', detail: 'this kernel has no agents' })
  }

  async #specialize({ contextId }: Process, name: string): Promise<string> {
    const { skill } = this.#options
    if (skill === undefined)
      throw new VfsError('ENOENT', name, { op: 'skill', detail: 'this kernel has no skills' })
    const body = await skill(name)
    const context = this.contexts.get(contextId)
    context.systemPrompt = `${context.systemPrompt}\n\n${body}`
    return `The skill '${name}' is active now.`
  }
}

/** Creates the settings of a child without an agent; undefined if nothing limits it. */
function createHelper(allowedDevices: readonly string[] | null): AgentSpec | undefined {
  if (allowedDevices === null) return undefined
  return { name: 'agent', isAnonymous: true, systemPrompt: '', skills: [], allowedDevices, mcp: {} }
}
