import type { ZodType } from 'zod'
import type { CallContext } from '../vfs/index.ts'
import type { ToolEnvironment } from './tool-environment.ts'
import type { AskPerson } from './workspace.ts'

/** Properties of a tool that a client may rely on before calling it. */
export interface ToolHints {
  readonly readOnly: boolean
  /** May delete or overwrite something. */
  readonly destructive: boolean
  /** Repeating the call changes nothing more. */
  readonly idempotent: boolean
  /** May reach beyond the local files. */
  readonly openWorld?: boolean
}

/** Context of a call: the caller, its signal and its progress listener. */
export interface ToolCall {
  readonly ctx: CallContext
  readonly progress: (done: number, total?: number, message?: string) => void
  /** Asks the person behind the call; absent if no person can be asked. */
  readonly ask?: AskPerson | undefined
}

/** An image in the result of a tool. */
export interface ToolImage {
  readonly mimeType: string
  /** The bytes in base64. */
  readonly data: string
}

/** Output of a tool that shows an image. */
export interface ImageOutput {
  /** Describes the image, also for a reader that takes text only. */
  readonly text: string
  readonly image: ToolImage
}

/** One tool: the same definition serves the library, the command line and the MCP server. */
export interface Tool<Args = unknown> {
  readonly name: string
  readonly title: string
  /** One line a model can act on. */
  readonly description: string
  readonly hints: ToolHints
  /** True if the tool bounds its output and names the next page: its output is never replaced by a stub. */
  readonly isBounded?: true
  /** Schema of its arguments; a Zod schema is also a Standard Schema. */
  readonly schema: ZodType<Args>
  /** Runs the tool and returns text or an image for the model. Fails with a VfsError, its path in shown form. */
  run(args: Args, environment: ToolEnvironment, call: ToolCall): Promise<string | ImageOutput>
}
