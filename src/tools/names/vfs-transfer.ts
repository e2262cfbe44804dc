import { z } from 'zod'
import { copy, isVfsError, move, VfsError } from '../../vfs/index.ts'
import { defineVfsTool } from '../define-tool.ts'
import type { Tool, ToolHints } from '../tool.ts'
import type { ToolEnvironment } from '../tool-environment.ts'
import { resolveUri, type ToolTarget } from '../tool-target.ts'

const hints: ToolHints = { readOnly: false, destructive: true, idempotent: false }

const schema: z.ZodType<{ src: string; dst: string; overwrite: boolean }> = z.strictObject({
  src: z.string().describe('Source: a vfs:/// URI.'),
  dst: z.string().describe('Target with its new name: a vfs:/// URI.'),
  overwrite: z.boolean().default(false).describe('Replace an existing dst.'),
})

export const vfsCopy: Tool = defineVfsTool({
  name: 'vfs_copy',
  title: 'Copy a file or directory',
  description: 'Copy a file, or a directory with its content, to a new name; needs write access to dst only.',
  hints,
  schema,
  async run({ src, dst, overwrite }, environment, { ctx }) {
    const [from, to] = [resolveUri(environment, src), resolveUri(environment, dst)]
    await withOverwriteHint(() => copy(environment.fs, from.path, to.path, { overwrite }, ctx))
    forgetReads(environment, to)
    return `copied ${from.displayPath} to ${to.displayPath}`
  },
})

export const vfsMove: Tool = defineVfsTool({
  name: 'vfs_move',
  title: 'Move or rename a file or directory',
  description:
    'Move a file, or a directory with its content, to a new name; needs write access to src and dst.',
  hints,
  schema,
  async run({ src, dst, overwrite }, environment, { ctx }) {
    const [from, to] = [resolveUri(environment, src), resolveUri(environment, dst)]
    await withOverwriteHint(() => move(environment.fs, from.path, to.path, { overwrite, across: true }, ctx))
    forgetReads(environment, from, to)
    return `moved ${from.displayPath} to ${to.displayPath}`
  },
})

/** Forgets the versions of paths the caller changed itself, so that it can edit them without reading. */
export function forgetReads({ reads }: ToolEnvironment, ...targets: readonly ToolTarget[]): void {
  for (const { displayPath } of targets) reads.forget(displayPath)
}

/** Adds a hint if the target exists. */
async function withOverwriteHint(transfer: () => Promise<void>): Promise<void> {
  try {
    await transfer()
  } catch (error) {
    if (!isVfsError(error, 'EEXIST')) throw error
    const detail = 'the target exists; choose another dst, or pass overwrite: true'
    throw new VfsError('EEXIST', error.path, { ...(error.op !== undefined && { op: error.op }), detail })
  }
}
