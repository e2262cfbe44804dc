import { hash as digest } from 'node:crypto'
import { z } from 'zod'
import { getCallerContext } from '../../access/index.ts'
import { type CallContext, hash, isVfsError, type Stat } from '../../vfs/index.ts'
import { defineFileTool, pathSchema } from '../define-tool.ts'
import type { ReadTracker } from '../read-tracker.ts'
import { assertStorable } from '../text/encoding.ts'
import type { Tool } from '../tool.ts'
import { MAX_EDITABLE_BYTES, statOpenableFile, type ToolTarget } from '../tool-target.ts'

export const writeFile: Tool = defineFileTool({
  name: 'write_file',
  title: 'Write a file',
  description:
    'Write a whole text file; creates missing directories and replaces existing content. To change a part, use file_edit.',
  hints: { readOnly: false, destructive: true, idempotent: true },
  schema: z.strictObject({
    path: pathSchema,
    content: z.string().describe('The whole new content, stored exactly as given.'),
  }),
  async run({ content }, { target, environment, call: { ctx } }) {
    const { fs, path, displayPath } = target
    assertStorable(content, 'content', displayPath)
    const old = await statExisting(target, ctx)
    const change = old && (await describeUnreadChange(old, target, environment.reads, ctx))
    await fs.write(path, content, {}, ctx)
    const context = getCallerContext(ctx.caller)
    if (context !== undefined) environment.reads.recordWrite(context, displayPath, digest('sha256', content))
    const bytes = Buffer.byteLength(content)
    return old === undefined
      ? `made ${displayPath}, ${bytes} bytes`
      : `replaced ${displayPath}, ${bytes} bytes (it had ${old.size})${change ?? ''}`
  },
})

/** Describes the change that a write replaces, if the reader has read the file before it changed. */
async function describeUnreadChange(
  { size, mtime }: Stat,
  { fs, path, displayPath }: ToolTarget,
  reads: ReadTracker,
  ctx: CallContext,
): Promise<string | undefined> {
  const seen = reads.lastSeen(displayPath)
  if (seen === undefined) return undefined
  const version = size > MAX_EDITABLE_BYTES ? undefined : await hash(fs, path, ctx)
  if (version === seen.version) return undefined
  const author = version === undefined ? undefined : reads.findAuthor(displayPath, version)?.context
  const by = author === undefined ? '' : ` by ${author}`
  const change = `It had changed since you read it: at ${mtime.toISOString()}${by}. Your content replaced that change`
  return `\n${change}. If the file is in a vault, a person can see the version before with: coppice versions`
}

async function statExisting(target: ToolTarget, ctx: CallContext): Promise<Stat | undefined> {
  try {
    return await statOpenableFile(target, ctx)
  } catch (error) {
    if (isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')) return undefined
    throw error
  }
}
