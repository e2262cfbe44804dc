import { z } from 'zod'
import { type CallContext, type FileSystem, type FileType, isVfsError, VfsError } from '../../vfs/index.ts'
import { defineVfsTool, READ_ONLY_HINTS, uriSchema } from '../define-tool.ts'
import { TextOutput } from '../text/text-output.ts'
import type { Tool, ToolCall } from '../tool.ts'
import { resolveUri, statOpenable, type ToolTarget } from '../tool-target.ts'
import { encodeUriPath } from '../uri.ts'

const CUT_NOTE = '… (cut; list a smaller directory, or with a smaller depth)'

export const vfsList: Tool = defineVfsTool({
  name: 'vfs_list',
  title: 'List a directory',
  description:
    'List the names in a directory, encoded as in a URI. Directories end with a slash; with sizes, each file has its size in bytes.',
  hints: READ_ONLY_HINTS,
  schema: z.strictObject({
    path: uriSchema,
    depth: z
      .int()
      .min(1, 'must be 1 or more')
      .default(1)
      .describe('How many levels deep; 1 is the directory alone.'),
    sizes: z.boolean().default(false).describe('Also show the size of each file.'),
  }),
  async run({ path: uri, depth, sizes }, environment, call) {
    const target = resolveUri(environment, uri)
    // A walk of a file is empty.
    const isWalk = sizes || depth > 1
    if (isWalk) await assertDirectory(target, call.ctx)
    try {
      return await formatList(target, isWalk ? depth : undefined, sizes, call)
    } catch (error) {
      // Its error says more about a pipe.
      if (isVfsError(error)) await assertDirectory(target, call.ctx)
      throw error
    }
  },
})

interface ListedEntry {
  readonly name: string
  readonly type: FileType
  readonly size?: number
}

async function assertDirectory(target: ToolTarget, ctx: CallContext): Promise<void> {
  const { type } = await statOpenable(target, ctx)
  if (type === 'file') throw new VfsError('ENOTDIR', target.path, { op: 'list' })
}

/** Lists names; reads the stat of each file only if a depth is given, for sizes and deeper levels. */
async function formatList(
  { fs, path, displayPath }: ToolTarget,
  depth: number | undefined,
  sizes: boolean,
  { ctx, progress }: ToolCall,
): Promise<string> {
  const output = new TextOutput()
  const entries: AsyncIterable<ListedEntry> =
    depth === undefined ? fs.readdir(path, ctx) : walkEntries(fs, path, depth, ctx)
  for await (const { name, type, size } of entries) {
    output.add(formatEntry(name, type, sizes ? size : undefined))
    if (output.isFull) break
    progress(output.count)
  }
  return output.toText(`${displayPath} is empty`, CUT_NOTE)
}

async function* walkEntries(
  fs: FileSystem,
  root: string,
  maxDepth: number,
  ctx: CallContext,
): AsyncGenerator<ListedEntry> {
  for await (const { path, stat } of fs.walk(root, { maxDepth, includeDirs: true }, ctx)) {
    yield { name: path.slice(root === '/' ? 1 : root.length + 1), type: stat.type, size: stat.size }
  }
}

function formatEntry(plain: string, type: FileType, size: number | undefined): string {
  const name = encodeUriPath(plain)
  if (type === 'directory') return `${name}/`
  if (type !== 'file') return `${name}\t(${type})`
  return size === undefined ? name : `${name}\t${size}`
}
