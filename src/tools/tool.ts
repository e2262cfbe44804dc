import type { ZodType } from 'zod'
import type { CallContext } from '../vfs/index.ts'
import type { ToolEnvironment } from './tool-environment.ts'
import type { AskPerson } from './workspace.ts'

/** What a client may assume of a tool before it calls it. */
export interface ToolHints {
  readonly readOnly: boolean
  /** May take something away or overwrite it. */
  readonly destructive: boolean
  /** The same call again changes nothing more. */
  readonly idempotent: boolean
  /** May reach beyond the files that are here. */
  readonly openWorld?: boolean
}

/** How a call is made: by whom, how it is cancelled, and who is told how far it is. */
export interface ToolCall {
  readonly ctx: CallContext
  readonly progress: (done: number, total?: number, message?: string) => void
  /** Puts a question to the person behind the call; absent if nobody can be asked. */
  readonly ask?: AskPerson | undefined
}

/** One tool: the same definition serves the library, the command line and the MCP server. */
export interface Tool<Args = unknown> {
  readonly name: string
  readonly title: string
  /** One line a model can act on. */
  readonly description: string
  readonly hints: ToolHints
  /** Bounds its output itself and says how to go on: what it gives is never replaced by a stub. */
  readonly isBounded?: true
  /** Its arguments; a Zod schema is a Standard Schema as well. */
  readonly schema: ZodType<Args>
  /** Does it, and tells what the model shall read. Fails with a VfsError, its path as the model knows it. */
  run(args: Args, bench: ToolEnvironment, call: ToolCall): Promise<string>
}
