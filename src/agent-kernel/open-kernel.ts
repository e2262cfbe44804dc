import { join } from 'node:path'
import { readConfig } from '../config/index.ts'
import { Crontab } from '../devices/cron/index.ts'
import { type LspDevice, lspDevice } from '../devices/lsp/index.ts'
import { McpMounts } from '../devices/mcp/index.ts'
import { listStepPassages, type MemoryPassage } from '../devices/memory/index.ts'
import { Tty } from '../devices/tty/index.ts'
import { DeviceRegistry, Kernel, type ProcessDefaults } from '../kernel/index.ts'
import { CleanupStack } from '../machine/index.ts'
import type { CommandSettings } from '../namespace/index.ts'
import { AgentKernel } from './agent-kernel.ts'
import { checkProcess } from './check-process.ts'
import { CodeCheckouts } from './code-checkouts.ts'
import { createSearch } from './create-search.ts'
import { createDevices, type DeviceSources } from './devices.ts'
import { createFilePins } from './file-pins.ts'
import { type KernelExtension, type KernelSettings, readKernelSettings } from './kernel-settings.ts'
import { type KernelState, type KernelStateOptions, openKernelState } from './kernel-state.ts'
import { McpServers } from './mcp-servers.ts'
import { OriginTracker } from './origin-tracker.ts'
import { ProcessFamily } from './process-family.ts'
import { type ProcessNamespace, ProcessNamespaces } from './process-namespaces.ts'
import { ProcessRecorder } from './process-recorder.ts'
import { findProject } from './projects.ts'
import { createSummarizer } from './summarize.ts'

/** Options of `openKernel`. */
export interface AgentKernelOptions extends KernelStateOptions, KernelExtension {
  /** Settings for commands of processes; an empty environment when absent. */
  readonly commands?: CommandSettings
  /** Context of the person at the terminal; `user` when absent. */
  readonly person?: string
  /** Defaults of processes, in place of those of the configuration. */
  readonly defaults?: Partial<ProcessDefaults>
}

type ResolvedOptions = AgentKernelOptions & Required<Pick<AgentKernelOptions, 'env' | 'commands' | 'person'>>

/** A process without an event for this long is shown as stalled: twice as long as a model may take. */
const STALL_MS = 10 * 60 * 1000
/** Limit of past processes to search for passages. */
const MAX_RECALLED_PROCESSES = 100

/**
 * Opens the kernel of a home, for one program at a time. The home is on disk, and the caller closes it; secrets
 * of the environment and of MCP servers are redacted from records. EINVAL.
 */
export async function openKernel({
  env = {},
  commands = { env: {} },
  person = 'user',
  ...given
}: AgentKernelOptions): Promise<AgentKernel> {
  const options = { ...given, env, commands, person }
  const cleanup = new CleanupStack()
  try {
    const state = await openKernelState(options, cleanup)
    const settings = await readKernelSettings(state.directory, options)
    return await composeKernel(options, state, settings, cleanup)
  } catch (error) {
    await cleanup.close()
    throw error
  }
}

async function composeKernel(
  options: ResolvedOptions,
  state: KernelState,
  { defaults, questionMs, devices }: KernelSettings,
  cleanup: CleanupStack,
): Promise<AgentKernel> {
  const origins = new OriginTracker(state.steps)
  const { lsp, leave } = await createLanguageServers(options, state, (pid) => namespaces.find(pid)?.fork)
  cleanup.use(lsp)
  const { kernel, namespaces, mcp } = createKernelParts(options, state, { defaults, steps: origins, leave })
  await mcp.learn()
  const tty = new Tty({ timeoutMs: questionMs })
  const crontab = createCrontab(state, () => agents)
  const family = new ProcessFamily({ ...state, kernel, namespaces })
  const sources: DeviceSources = {
    ...state,
    env: options.env,
    tty,
    crontab,
    lsp,
    kernel,
    search: createSearch(state.directory, options.env),
    family,
    findNamespace: (pid) => namespaces.findFiles(pid),
    findWorkspace: (pid) => namespaces.findWorkspace(pid),
    findProject: (pid) => resolveProject(options.home, namespaces.find(pid), state),
    listMounts: (pid) => ['/', '/workspace', ...kernel.devices.listPaths(pid)],
    readSteps: (uuid) => state.steps.read(uuid),
    listOrigins: (pid) => origins.listOrigins(kernel.table.find(pid)?.uuid ?? ''),
    history: () => readPassages(state),
    summarize: createSummarizer(kernel.devices, defaults, () => agents.asDeviceUser),
  }
  for (const [path, device] of [...Object.entries(createDevices(sources)), ...devices])
    kernel.devices.register(path, device)
  const person = cleanup.use(await namespaces.openForPerson(options.person))
  cleanup.defer(() => kernel.shutdown())
  cleanup.defer(async () => crontab.stop())
  const close = () => cleanup.close()
  const check = (fork: string | null, command: string, signal: AbortSignal) =>
    checkProcess(options, fork, command, signal)
  const agents = new AgentKernel({ ...state, kernel, person, tty, crontab, mcp, family, check, close })
  await crontab.start()
  return agents
}

function createKernelParts(
  { home, commands }: ResolvedOptions,
  { records, store, catalog, redactor }: KernelState,
  {
    defaults,
    steps,
    leave,
  }: {
    readonly defaults: KernelSettings['defaults']
    readonly steps: OriginTracker
    readonly leave: (fork: string) => Promise<void>
  },
): {
  readonly kernel: Kernel
  readonly namespaces: ProcessNamespaces
  readonly mcp: McpServers
} {
  const devices = new DeviceRegistry()
  const findSignal = (pid: number) => kernel.table.find(pid)?.signal
  const namespaces = new ProcessNamespaces({
    home,
    commands: { ...commands, redactor },
    devices,
    findSignal,
    leave,
  })
  const processes = new ProcessRecorder({ records, namespaces, origins: steps, kernel: () => kernel })
  const mounts = new McpMounts(devices, {
    pins: createFilePins(store, '/sys/mcp'),
    env: commands.env,
    redactor,
  })
  const kernel: Kernel = new Kernel({
    devices,
    steps,
    defaults,
    mounts,
    lastPid: records.lastPid,
    stallMs: STALL_MS,
    createEnvironment: (pid, _intent, spawn) => namespaces.open(pid, spawn),
    agent: (name) => catalog.agent(name),
    skill: async (name) => (await catalog.skill(name)).body,
    callbacks: processes,
  })
  return { kernel, namespaces, mcp: new McpServers(catalog, mounts, redactor) }
}

/** Creates the language servers, and the function that releases those of a fork. */
async function createLanguageServers(
  { home, commands }: ResolvedOptions,
  { directory }: KernelState,
  forkOf: (pid: number) => string | null | undefined,
): Promise<{ readonly lsp: LspDevice; readonly leave: (fork: string) => Promise<void> }> {
  const code: CodeCheckouts = new CodeCheckouts(home, join(directory, 'data', 'code'), commands, (id) =>
    lsp.release(id),
  )
  await code.sweep()
  const lsp = lspDevice({ env: commands.env, checkout: async ({ pid }) => code.open(forkOf(pid)) })
  return { lsp, leave: (fork) => code.drop(fork) }
}

/** Creates the crontab; each run is a process on a fork of the vault current at that time. */
function createCrontab({ directory, store }: KernelState, agents: () => AgentKernel): Crontab {
  return new Crontab({
    fs: store,
    directory: '/sys/cron',
    spawn: async (intent, { agent, options }) => {
      const { vault } = await readConfig(directory)
      const { pid } = await agents().spawn({ vault, ...options, intent, agent: agent ?? undefined })
      await agents().wait(pid)
    },
  })
}

/** Returns the project of a process; without a workspace, the current vault's. */
async function resolveProject(
  home: AgentKernelOptions['home'],
  namespace: ProcessNamespace | undefined,
  { directory }: KernelState,
): Promise<string | undefined> {
  const vault = namespace === undefined ? (await readConfig(directory)).vault : (namespace.vault ?? undefined)
  return vault === undefined ? undefined : findProject(home, vault)
}

async function* readPassages({ records, steps }: KernelState): AsyncGenerator<MemoryPassage> {
  for (const { uuid } of records.all().slice(-MAX_RECALLED_PROCESSES)) {
    yield* listStepPassages(uuid, await steps.read(uuid))
  }
}
