import type { AgentCatalog } from '../agents/index.ts'
import type { ProcessOptions, Restart, SpawnOptions, SupervisorOptions } from '../kernel/index.ts'
import type { FileSystem } from '../vfs/index.ts'
import { resolveAgent } from './resolve-agent.ts'
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

/** Resolves the names in the options of a process. Throws ENOENT for an unknown agent or skill. */
export async function resolveSpawnOptions(
  { catalog, scripts }: SpawnSources,
  { script, ...spawn }: AgentSpawn,
  continued?: ContinuedProcess,
): Promise<SpawnOptions> {
  return {
    agent: await resolveAgent(catalog, spawn.agent ?? continued?.agent, spawn.skills ?? []),
    provider:
      script === undefined
        ? (spawn.provider ?? continued?.provider)
        : `script/${await saveScript(scripts, script)}`,
    model: spawn.model ?? (spawn.provider === undefined ? continued?.model : undefined),
    contextBudget: spawn.budget,
    vault: continued?.vault ?? spawn.vault,
    merge: spawn.merge,
    checkpoint: continued?.checkpoint,
    messages: continued?.messages,
    maxSteps: spawn.max_steps,
    tools: spawn.tools,
    groups: spawn.groups,
  }
}
