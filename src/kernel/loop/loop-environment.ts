import type { Contexts } from '../context/index.ts'
import type { FileManager } from '../descriptor/process-files.ts'
import type { Process } from '../process/process.ts'
import type { StepSink } from '../step/index.ts'
import type { AgentAction } from './agent-action.ts'
import type { ToolDefinition } from './model.ts'

/** A tool call, ready to run. */
export interface PreparedCall {
  /** Path of the file that receives the call. */
  readonly path: string
  /** Text written to that file. */
  readonly input: string
  /** True if the call changes nothing. */
  readonly isReadOnly: boolean
  run(): Promise<string>
}

/** The kernel functions that the loop of a process uses. */
export interface LoopEnvironment {
  readonly contexts: Contexts
  readonly files: FileManager
  readonly steps: StepSink
  onStep(process: Process, step: number, total: number): void
  listTools(process: Process): readonly ToolDefinition[]
  /** Resolves a tool by name, or a device or file by path. */
  prepareToolCall(process: Process, tool: string, input: unknown): PreparedCall
  spawnChild(process: Process, action: Extract<AgentAction, { action: 'spawn' }>): Promise<string>
  /** Adds a skill to the process. */
  specialize(process: Process, skill: string): Promise<string>
  /** Drops the oldest messages if the context is full. */
  dropOldestMessages(process: Process): void
}
