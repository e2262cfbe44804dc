import type { Contexts } from '../context/index.ts'
import type { FileManager } from '../descriptor/files.ts'
import type { Process } from '../process/process.ts'
import type { StepSink } from '../step/index.ts'
import type { Action } from './action.ts'
import type { ToolOffer } from './model.ts'

/** A call of a tool, made ready. */
export interface PreparedCall {
  /** The file it goes to. */
  readonly path: string
  /** What is written there. */
  readonly input: string
  run(): Promise<string>
}

/** What the loop of a process needs of the kernel. */
export interface LoopSurroundings {
  readonly contexts: Contexts
  readonly files: FileManager
  readonly steps: StepSink
  onStep(process: Process, step: number, total: number): void
  toolsOf(process: Process): readonly ToolOffer[]
  /** A tool by its name, or a device or file by its path. */
  toolCall(process: Process, tool: string, input: unknown): PreparedCall
  spawnChild(process: Process, action: Extract<Action, { action: 'spawn' }>): Promise<string>
  /** Takes up a skill. */
  specialize(process: Process, skill: string): Promise<string>
  /** Forgets what is oldest, where the context is full. */
  makeRoom(process: Process): void
}
