import type { AgentCatalog } from '../agents/index.ts'
import type { ProcessOptions, Restart, SpawnOptions, SupervisorOptions } from '../kernel/index.ts'
import { type FileSystem, VfsError } from '../vfs/index.ts'
import { DEFAULT_AGENT_NAME, limitDevices, resolveAgent } from './resolve-agent.ts'
import type { ContinuedProcess, RestartPoint } from './restart-point.ts'
import { type ScriptSource, saveScript } from './save-script.ts'

/** Task and model of a process. */
interface AgentTask extends ProcessOptions {
  readonly intent: string
  readonly agent?: string | undefined
  /** Script to play in place of a model. */
  readonly script?: ScriptSource | undefined
}

/** Files that a process starts from. */
interface StartFiles {
  /** Vault to fork for its workspace, or the path of a directory; none when absent. */
  readonly vault?: string | undefined
  /**
   * Vaults whose changes are merged into the fork first. Spawning throws ECONFLICT, with the paths, if they conflict.
   */
  readonly merge?: readonly string[] | undefined
}

/** Options of a new process. */
export interface AgentSpawn extends AgentTask, StartFiles {
  /** Process and step to start from, with its conversation and its files of that moment. */
  readonly from?: RestartPoint | undefined
}

/** A process that a supervisor keeps running, on a fork of the supervisor's files. */
export interface SupervisedAgent extends AgentTask {
  /** Condition for a restart; `permanent` when absent. */
  readonly restart?: Restart | undefined
}

/** Options of a new supervisor. */
export interface AgentSupervision extends SupervisorOptions, StartFiles {
  /** Name of the supervisor, which lists show as its intent. */
  readonly name: string
  /** Groups that it and its children join. */
  readonly groups?: readonly string[] | undefined
  /** In the order in which they start. */
  readonly children: readonly SupervisedAgent[]
}

/** Sources of agents, skills and scripts. */
interface SpawnSources {
  readonly catalog: AgentCatalog
  /** File system for scripts passed with a process. */
  readonly scripts: FileSystem
}

/**
 * Resolves the names in the options of a process. Options that are absent are those of the process that it continues.
 * Throws ENOENT for an unknown agent or skill, EINVAL if the continued process had skills that were not recorded.
 */
export async function resolveSpawnOptions(
  { catalog, scripts }: SpawnSources,
  { script, ...spawn }: AgentSpawn,
  continued?: ContinuedProcess,
): Promise<SpawnOptions> {
  const inherited = continued === undefined ? undefined : inheritOptions(spawn, continued)
  const skills = spawn.skills ?? inherited?.skills ?? []
  const agent = await resolveAgent(catalog, await findAgentName(catalog, spawn, continued), skills)
  return {
    agent: limitDevices(agent, inherited?.allowedDevices ?? null),
    provider:
      script === undefined
        ? (spawn.provider ?? continued?.provider)
        : `script/${await saveScript(scripts, script)}`,
    model: spawn.model ?? (spawn.provider === undefined ? continued?.model : undefined),
    fallbacks: script === undefined ? inherited?.fallbacks : undefined,
    contextBudget: spawn.budget ?? inherited?.budget,
    vault: continued?.vault ?? spawn.vault,
    merge: spawn.merge,
    checkpoint: continued?.checkpoint,
    messages: continued?.messages,
    maxSteps: spawn.max_steps ?? inherited?.max_steps,
    tools: spawn.tools ?? inherited?.tools,
    groups: spawn.groups ?? inherited?.groups,
  }
}

/** Options that a process takes over from the one that it continues. */
interface InheritedOptions
  extends Omit<ProcessOptions, 'provider' | 'model'>,
    Pick<SpawnOptions, 'fallbacks'> {
  /** Limit of its devices; null for none. */
  readonly allowedDevices: readonly string[] | null
}

/**
 * Returns the options of a continued process for a new one. Another agent brings limits of its own, and another agent
 * or other skills bring their devices. Another provider or model has no fallbacks.
 */
function inheritOptions(
  spawn: AgentSpawn,
  { agent, settings }: ContinuedProcess,
): InheritedOptions | undefined {
  if (settings === undefined) return undefined
  const { given, allowed_devices, budget, max_steps, fallbacks } = settings
  if (spawn.agent !== undefined && spawn.agent !== agent) return { ...given, allowedDevices: null }
  const hasSameModel = spawn.provider === undefined && spawn.model === undefined
  return {
    ...given,
    budget,
    max_steps,
    allowedDevices: spawn.skills === undefined ? allowed_devices : null,
    ...(hasSameModel && { fallbacks }),
  }
}

/**
 * Returns the name of the agent of a new process. Records of older versions name an agent that is none if a process
 * had skills alone, and do not have the skills: then the skills have to be named, or it would be without their limits.
 */
async function findAgentName(
  catalog: AgentCatalog,
  spawn: AgentSpawn,
  continued: ContinuedProcess | undefined,
): Promise<string | undefined> {
  const name = spawn.agent ?? continued?.agent
  if (spawn.agent !== undefined || continued?.settings !== undefined || name !== DEFAULT_AGENT_NAME)
    return name
  if ((await catalog.agents()).some((agent) => agent.name === name)) return name
  if (spawn.skills !== undefined) return undefined
  const pid = continued?.pid
  const detail = `process ${pid} had skills that an older version did not record; name them with: coppice spawn "…" --from ${pid} --skills <names>`
  throw new VfsError('EINVAL', `/proc/${pid}`, { op: 'spawn', detail })
}
