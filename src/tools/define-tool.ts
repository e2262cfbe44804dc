import { z } from 'zod'
import type { ImageOutput, Tool, ToolCall, ToolHints } from './tool.ts'
import type { ToolEnvironment } from './tool-environment.ts'
import { resolveTarget, type ToolTarget, withShownPath } from './tool-target.ts'
import { toUri } from './uri.ts'

/** Hints of a tool that only reads. */
export const READ_ONLY_HINTS: ToolHints = { readOnly: true, destructive: false, idempotent: true }

/** A path argument of the tools that take both kinds of path. */
export const pathSchema: z.ZodString = z
  .string()
  .describe(
    'A vfs:/// URI such as vfs:///shared/notes.md, a path relative to the workspace, or an absolute path of this machine.',
  )

/** A path argument of the tools that work in the namespace only. */
export const uriSchema: z.ZodString = z
  .string()
  .describe('A vfs:/// URI such as vfs:///shared/notes.md, or a path relative to the workspace.')

/** Context of a tool on one path. */
export interface TargetContext {
  readonly target: ToolTarget
  readonly environment: ToolEnvironment
  readonly call: ToolCall
}

interface FileTool<Args> extends Omit<Tool<Args>, 'run'> {
  run(args: Args, targetContext: TargetContext): Promise<string | ImageOutput>
}

/** Defines a tool on one path, in the namespace or on the host. */
export function defineFileTool<Args extends { readonly path: string }>(tool: FileTool<Args>): Tool {
  const run = async (args: Args, environment: ToolEnvironment, call: ToolCall) => {
    const target = await resolveTarget(environment, args.path)
    try {
      return await tool.run(args, { target, environment, call })
    } catch (error) {
      throw withShownPath(error, target.show)
    }
  }
  return { ...tool, run }
}

/** Defines a tool on the namespace. Errors about the directory that the workspace is a fork of name the workspace. */
export function defineVfsTool<Args>(tool: Tool<Args>): Tool {
  const run = async (args: Args, environment: ToolEnvironment, call: ToolCall) => {
    const { workspace } = environment
    const show = (path: string) => toUri(path === workspace?.directory ? workspace.path : path)
    try {
      return await tool.run(args, environment, call)
    } catch (error) {
      throw withShownPath(error, show)
    }
  }
  return { ...tool, run }
}
