import { hash as digest } from 'node:crypto'
import { z } from 'zod'
import { getCallerContext } from '../../access/index.ts'
import { type CallContext, isVfsError, type Stat } from '../../vfs/index.ts'
import { defineFileTool, pathSchema } from '../define-tool.ts'
import { assertStorable } from '../text/encoding.ts'
import type { Tool } from '../tool.ts'
import { statOpenableFile, type ToolTarget } from '../tool-target.ts'

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
    await fs.write(path, content, {}, ctx)
    const context = getCallerContext(ctx.caller)
    if (context !== undefined) environment.reads.recordWrite(context, displayPath, digest('sha256', content))
    const bytes = Buffer.byteLength(content)
    return old === undefined
      ? `made ${displayPath}, ${bytes} bytes`
      : `replaced ${displayPath}, ${bytes} bytes (it had ${old.size})`
  },
})

async function statExisting(target: ToolTarget, ctx: CallContext): Promise<Stat | undefined> {
  try {
    return await statOpenableFile(target, ctx)
  } catch (error) {
    if (isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')) return undefined
    throw error
  }
}
