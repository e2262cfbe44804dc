import type { Contexts } from '../context/index.ts'
import type { FileManager } from '../descriptor/process-files.ts'
import type { Process } from '../process/process.ts'
import type { StepSink } from '../step/index.ts'
import type { AgentAction } from './agent-action.ts'
import type { ToolDefinition } from './model.ts'

/** A call of a tool, made ready. */
export interface PreparedCall {
  /** The file it goes to. */
  readonly path: string
  /** What is written there. */
  readonly input: string
  run(): Promise<string>
}

/** What the loop of a process needs of the kernel. */
export interface LoopEnvironment {
  readonly contexts: Contexts
  readonly files: FileManager
  readonly steps: StepSink
  onStep(process: Process, step: number, total: number): void
  listTools(process: Process): readonly ToolDefinition[]
  /** A tool by its name, or a device or file by its path. */
  prepareToolCall(process: Process, tool: string, input: unknown): PreparedCall
  spawnChild(process: Process, action: Extract<AgentAction, { action: 'spawn' }>): Promise<string>
  /** Takes up a skill. */
  specialize(process: Process, skill: string): Promise<string>
  /** Forgets what is oldest, where the context is full. */
  dropOldestMessages(process: Process): void
}
