import type { Caller, FileSystem } from '../../vfs/index.ts'
import type { ContextMessage } from '../context/index.ts'
import type { ExitStatus } from './exit-status.ts'
import type { BoundOutput, Process } from './process.ts'

/** Connection settings of an MCP server; the mount manager interprets them. */
export type MountConfig = Readonly<Record<string, unknown>>

/** Mounts MCP servers below `/mnt/mcp`. */
export interface MountManager {
  /** Mounts a server; leaves nothing mounted if it fails. */
  mount(path: string, config: MountConfig, signal?: AbortSignal): Promise<void>
  unmount(path: string): Promise<void>
  unmountAll(): Promise<void>
}

/** A model; absent fields default to those of the process. */
export interface ModelChoice {
  readonly provider?: string | undefined
  readonly model?: string | undefined
}

/** Settings that an agent gives its processes. */
export interface AgentSpec {
  readonly name: string
  /** True for skills without an agent, whose files are those of this name. */
  readonly isAnonymous?: boolean
  /** The agent's instructions and the bodies of its skills. */
  readonly systemPrompt: string
  readonly skills: readonly string[]
  /** Those of `skills` that an option added to the agent's own. */
  readonly addedSkills?: readonly string[]
  readonly provider?: string | undefined
  readonly model?: string | undefined
  /** Models to try in this order after a temporary failure. Ignored if an option names provider or model. */
  readonly fallbacks?: readonly ModelChoice[] | undefined
  readonly contextBudget?: number | undefined
  readonly maxSteps?: number | undefined
  /** Allowed device paths; null allows all. */
  readonly allowedDevices: readonly string[] | null
  /** Tools in addition to the default ones, by name or device path. */
  readonly tools?: readonly string[] | undefined
  readonly mcp: Readonly<Record<string, MountConfig>>
}

/** Limits of a process that its system prompt names. */
export interface ProcessLimits {
  readonly maxSteps: number
  /** In tokens; 0 for no limit. */
  readonly contextBudget: number
}

/** The namespace and identity of a process, created for it and closed when it ends. */
export interface ProcessEnvironment {
  readonly fs: FileSystem
  readonly caller: Caller
  readonly boundOutput?: BoundOutput
  /** Saves the files at the end of a step, and returns the name of the checkpoint that has them. */
  saveFiles?(step: number): Promise<string>
  /** Describes the environment of the process, for the end of its system prompt. */
  describe?(limits: ProcessLimits): Promise<string>
  close(): Promise<void>
}

/** A program that a process runs instead of the model loop. */
export type ProcessProgram = (process: Process) => Promise<ExitStatus>

/** Options of `spawn`. */
export interface SpawnOptions {
  readonly agent?: AgentSpec | undefined
  /** Number of the parent process; 0 when absent. */
  readonly parent?: number
  readonly provider?: string | undefined
  readonly model?: string | undefined
  /** Models to try in this order after a temporary failure of the previous one. */
  readonly fallbacks?: readonly ModelChoice[] | undefined
  /** Limit in tokens; 0 for no limit. */
  readonly contextBudget?: number | undefined
  readonly systemPrompt?: string | undefined
  readonly maxSteps?: number | undefined
  /** Timeout for one response of the model. */
  readonly timeoutMs?: number | undefined
  readonly program?: ProcessProgram | undefined
  /** Vault of the process, or the path of a directory; that of its parent when absent. */
  readonly vault?: string | undefined
  /** Vaults whose changes are merged into the fork before the process starts. */
  readonly merge?: readonly string[] | undefined
  /** Checkpoint of the vault to start from; its current files when absent. */
  readonly checkpoint?: string | undefined
  /** Conversation to continue; the intent alone when absent. */
  readonly messages?: readonly ContextMessage[] | undefined
  /** Tools in addition to the default ones, by name or device path. */
  readonly tools?: readonly string[] | undefined
  /** Groups to join before it runs, in addition to those of its parent. */
  readonly groups?: readonly string[] | undefined
}
