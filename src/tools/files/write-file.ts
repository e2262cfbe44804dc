import { hash as digest } from 'node:crypto'
import { z } from 'zod'
import { contextOf } from '../../access/index.ts'
import { type CallContext, isVfsError, type Stat } from '../../vfs/index.ts'
import { anyPath, fileTool } from '../define-tool.ts'
import { openableFile, type Place } from '../place.ts'
import { assertStorable } from '../text/encoding.ts'
import type { Tool } from '../tool.ts'

export const writeFile: Tool = fileTool({
  name: 'write_file',
  title: 'Write a file',
  description:
    'Write a whole text file, making it and its directories or replacing what it holds; to change a part, use file_edit.',
  hints: { readOnly: false, destructive: true, idempotent: true },
  schema: z.strictObject({
    path: anyPath,
    content: z.string().describe('The whole new content, stored exactly as given.'),
  }),
  async run({ content }, { place, bench, call: { ctx } }) {
    const { fs, path, shown } = place
    assertStorable(content, 'content', shown)
    const old = await existing(place, ctx)
    await fs.write(path, content, {}, ctx)
    const context = contextOf(ctx.caller)
    if (context !== undefined) bench.reads.wrote(context, shown, digest('sha256', content))
    const bytes = Buffer.byteLength(content)
    return old === undefined
      ? `made ${shown}, ${bytes} bytes`
      : `replaced ${shown}, ${bytes} bytes (it had ${old.size})`
  },
})

async function existing(place: Place, ctx: CallContext): Promise<Stat | undefined> {
  try {
    return await openableFile(place, ctx)
  } catch (error) {
    if (isVfsError(error, 'ENOENT') || isVfsError(error, 'ENOTDIR')) return undefined
    throw error
  }
}
