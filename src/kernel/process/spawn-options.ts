import type { Caller, FileSystem } from '../../vfs/index.ts'
import type { ExitStatus } from './exit-status.ts'
import type { Process } from './process.ts'

/** How an MCP server is reached; what it says is the business of who mounts it. */
export type MountConfig = Readonly<Record<string, unknown>>

/** Mounts MCP servers below `/mnt/mcp`. */
export interface MountManager {
  /** Nothing is left of one that fails. */
  mount(path: string, config: MountConfig, signal?: AbortSignal): Promise<void>
  unmount(path: string): Promise<void>
  unmountAll(): Promise<void>
}

/** Whom to ask; what is absent is that of the process. */
export interface ModelChoice {
  readonly provider?: string | undefined
  readonly model?: string | undefined
}

/** What an agent brings to its processes. */
export interface AgentSpec {
  readonly name: string
  /** Its instructions, and the bodies of its skills. */
  readonly systemPrompt: string
  readonly skills: readonly string[]
  readonly provider?: string | undefined
  readonly model?: string | undefined
  /** Asked in this order where the one before fails for a while; not where an option says whom to ask. */
  readonly fallbacks?: readonly ModelChoice[] | undefined
  readonly contextBudget?: number | undefined
  readonly maxSteps?: number | undefined
  /** null for all. */
  readonly allowedDevices: readonly string[] | null
  readonly mcp: Readonly<Record<string, MountConfig>>
}

/** What a process works on, made for it and closed when it ends. */
export interface ProcessEnvironment {
  readonly fs: FileSystem
  readonly caller: Caller
  close(): Promise<void>
}

/** What a process does in place of asking a model. */
export type ProcessProgram = (process: Process) => Promise<ExitStatus>

export interface SpawnOptions {
  readonly agent?: AgentSpec | undefined
  /** The process that spawns; 0 when absent. */
  readonly parent?: number
  readonly provider?: string | undefined
  readonly model?: string | undefined
  /** Asked in this order where the one before fails for a while. */
  readonly fallbacks?: readonly ModelChoice[] | undefined
  /** Tokens; 0 for no limit. */
  readonly contextBudget?: number | undefined
  readonly systemPrompt?: string | undefined
  readonly maxSteps?: number | undefined
  /** How long one answer of the model may take. */
  readonly timeoutMs?: number | undefined
  readonly program?: ProcessProgram | undefined
  /** What it works on, for who makes its surroundings; what its parent works on when absent. */
  readonly vault?: string | undefined
}
