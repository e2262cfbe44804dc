import { join } from 'node:path'
import { Crontab } from '../../devices/cron/index.ts'
import { type LspDevice, lspDevice } from '../../devices/lsp/index.ts'
import { McpMounts } from '../../devices/mcp/index.ts'
import { type Passage, passagesOfSteps } from '../../devices/memory/index.ts'
import { Tty } from '../../devices/tty/index.ts'
import { DeviceRegistry, Kernel, type ProcessDefaults } from '../../kernel/index.ts'
import { readConfig } from '../config/index.ts'
import { Belongings, type CommandSettings } from '../index.ts'
import { AgentKernel } from './agent-kernel.ts'
import { CodeCheckouts } from './code-checkouts.ts'
import { configuredSearch } from './configured-search.ts'
import { type DeviceSources, devicesOf } from './devices.ts'
import { filePins } from './file-pins.ts'
import { type Ground, type GroundOptions, openGround } from './ground.ts'
import { McpServers } from './mcp-servers.ts'
import { Origins } from './origins.ts'
import { type ProcessPlace, ProcessPlaces } from './process-places.ts'
import { projectOf } from './projects.ts'
import { RecordedProcesses } from './recorded-processes.ts'
import { summarizing } from './summarize.ts'

export interface AgentKernelOptions extends GroundOptions {
  /** How commands of processes are run. */
  readonly commands: CommandSettings
  /** The context of the person at the terminal. */
  readonly person: string
  readonly defaults?: Partial<ProcessDefaults>
}

/** Processes of the past that are looked through for what they said. */
const RECALLED_PROCESSES = 100
const DEFAULT_PROVIDER = 'claude'

/**
 * Opens the kernel of a home, for one program at a time. The home is on disk, and stays the caller's to close; secrets
 * of the environment and of MCP servers do not reach records. EINVAL.
 */
export async function openKernel(options: AgentKernelOptions): Promise<AgentKernel> {
  const belongings = new Belongings()
  try {
    const ground = await openGround(options, belongings)
    return await compose(options, ground, belongings)
  } catch (error) {
    await belongings.close()
    throw error
  }
}

async function compose(
  options: AgentKernelOptions,
  ground: Ground,
  belongings: Belongings,
): Promise<AgentKernel> {
  const origins = new Origins(ground.steps)
  const { lsp, leave } = await languageServers(options, ground, (pid) => places.find(pid)?.fork)
  belongings.keep(lsp)
  const { kernel, places, processes, mcp } = kernelOn(options, ground, { steps: origins, leave })
  await mcp.learn()
  const tty = new Tty()
  const crontab = cronOn(ground, () => agents)
  const sources: DeviceSources = {
    ...ground,
    env: options.env,
    tty,
    crontab,
    lsp,
    kernel,
    search: configuredSearch(ground.directory, options.env),
    workspaceOf: (pid) => places.workspaceOf(pid),
    projectOf: (pid) => projectFor(options.home, places.find(pid), ground),
    mountsOf: (pid) => ['/', '/workspace', ...kernel.devices.paths(pid)],
    stepsOf: (uuid) => ground.steps.read(uuid),
    originsOf: (pid) => origins.of(kernel.table.find(pid)?.uuid ?? ''),
    history: () => passagesOf(ground),
    summarize: summarizing(
      kernel.devices,
      options.defaults?.provider ?? DEFAULT_PROVIDER,
      () => agents.asDeviceUser,
    ),
  }
  for (const [path, device] of Object.entries(devicesOf(sources))) kernel.devices.register(path, device)
  const person = belongings.keep(await places.forPerson(options.person))
  belongings.onClose(() => kernel.shutdown())
  belongings.onClose(async () => crontab.stop())
  const close = () => belongings.close()
  const agents = new AgentKernel({ ...ground, kernel, processes, person, tty, crontab, mcp, close })
  await crontab.start()
  return agents
}

function kernelOn(
  { home, commands, defaults }: AgentKernelOptions,
  { records, store, shelf, redactor }: Ground,
  { steps, leave }: { readonly steps: Origins; readonly leave: (fork: string) => Promise<void> },
): {
  readonly kernel: Kernel
  readonly places: ProcessPlaces
  readonly processes: RecordedProcesses
  readonly mcp: McpServers
} {
  const devices = new DeviceRegistry()
  const signalOf = (pid: number) => kernel.table.find(pid)?.signal
  const places = new ProcessPlaces({
    home,
    commands: { ...commands, redactor },
    devices,
    signalOf,
    leave,
  })
  const processes = new RecordedProcesses({ records, places, origins: steps, kernel: () => kernel })
  const mounts = new McpMounts(devices, { pins: filePins(store, '/sys/mcp'), env: commands.env, redactor })
  const kernel: Kernel = new Kernel({
    devices,
    steps,
    defaults: { provider: DEFAULT_PROVIDER, ...defaults },
    mounts,
    lastPid: records.lastPid,
    surroundings: (pid, _intent, spawn) => places.open(pid, spawn),
    agent: (name) => shelf.agent(name),
    skill: async (name) => (await shelf.skill(name)).body,
    callbacks: processes,
  })
  return { kernel, places, processes, mcp: new McpServers(shelf, mounts, redactor) }
}

/** Language servers, and how those of a fork are ended with what was made for them. */
async function languageServers(
  { home, commands }: AgentKernelOptions,
  { directory }: Ground,
  forkOf: (pid: number) => string | null | undefined,
): Promise<{ readonly lsp: LspDevice; readonly leave: (fork: string) => Promise<void> }> {
  const code = new CodeCheckouts(home, join(directory, 'data', 'code'), commands)
  await code.sweep()
  const lsp = lspDevice({ env: commands.env, checkout: async ({ pid }) => code.of(forkOf(pid)) })
  const leave = async (fork: string) => {
    const place = code.directoryOf(fork)
    if (place !== undefined) await lsp.release(place)
    await code.drop(fork)
  }
  return { lsp, leave }
}

/** A firing becomes a process that works on a fork of the vault that is chosen at that time. */
function cronOn({ directory, store }: Ground, agents: () => AgentKernel): Crontab {
  return new Crontab({
    fs: store,
    directory: '/sys/cron',
    spawn: async (intent, { agent }) => {
      const { vault } = await readConfig(directory)
      const { pid } = await agents().spawn({ intent, agent: agent ?? undefined, vault })
      await agents().wait(pid)
    },
  })
}

/** Whoever is no process, or has no place, is at the vault that is chosen at the time. */
async function projectFor(
  home: AgentKernelOptions['home'],
  place: ProcessPlace | undefined,
  { directory }: Ground,
): Promise<string | undefined> {
  const vault = place === undefined ? (await readConfig(directory)).vault : (place.vault ?? undefined)
  return vault === undefined ? undefined : projectOf(home, vault)
}

async function* passagesOf({ records, steps }: Ground): AsyncGenerator<Passage> {
  for (const { uuid } of records.all().slice(-RECALLED_PROCESSES)) {
    yield* passagesOfSteps(uuid, await steps.read(uuid))
  }
}
