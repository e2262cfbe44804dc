import { z } from 'zod'
import { locate, type Place, toldAt } from './place.ts'
import type { Tool, ToolCall, ToolHints } from './tool.ts'
import { toUri } from './uri.ts'
import type { Workbench } from './workbench.ts'

/** Looks, and changes nothing. */
export const LOOKS: ToolHints = { readOnly: true, destructive: false, idempotent: true }

/** A path argument of the tools that take both kinds of path. */
export const anyPath: z.ZodString = z
  .string()
  .describe('A vfs:/// URI such as vfs:///shared/notes.md, or an absolute path of this machine.')

/** A path argument of the tools that work in the namespace only. */
export const vfsUri: z.ZodString = z.string().describe('A vfs:/// URI such as vfs:///shared/notes.md.')

/** What a tool on one path is called with. */
export interface AtPlace {
  readonly place: Place
  readonly bench: Workbench
  readonly call: ToolCall
}

interface FileTool<Args> extends Omit<Tool<Args>, 'run'> {
  run(args: Args, at: AtPlace): Promise<string>
}

/** A tool on one path, in the namespace or on this machine. */
export function fileTool<Args extends { readonly path: string }>(tool: FileTool<Args>): Tool {
  const run = async (args: Args, bench: Workbench, call: ToolCall) => {
    const place = await locate(bench, args.path)
    try {
      return await tool.run(args, { place, bench, call })
    } catch (error) {
      throw toldAt(error, place.show)
    }
  }
  return { ...tool, run }
}

/** A tool on the namespace. */
export function vfsTool<Args>(tool: Tool<Args>): Tool {
  const run = async (args: Args, bench: Workbench, call: ToolCall) => {
    try {
      return await tool.run(args, bench, call)
    } catch (error) {
      throw toldAt(error, toUri)
    }
  }
  return { ...tool, run }
}
