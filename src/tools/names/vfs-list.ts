import { z } from 'zod'
import { type CallContext, type FileSystem, type FileType, VfsError } from '../../vfs/index.ts'
import { defineVfsTool, READ_ONLY_HINTS, uriSchema } from '../define-tool.ts'
import { TextOutput } from '../text/text-output.ts'
import type { Tool } from '../tool.ts'
import { resolveUri, statOpenable } from '../tool-target.ts'
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
  async run({ path: uri, depth, sizes }, environment, { ctx, progress }) {
    const target = resolveUri(environment, uri)
    const { fs, path, displayPath } = target
    const { type } = await statOpenable(target, ctx)
    if (type === 'file') throw new VfsError('ENOTDIR', path, { op: 'list' })
    const output = new TextOutput()
    for await (const { name, type, size } of listEntries(fs, path, depth, sizes, ctx)) {
      output.add(formatEntry(name, type, sizes ? size : undefined))
      if (output.isFull) break
      progress(output.count)
    }
    return output.toText(`${displayPath} is empty`, CUT_NOTE)
  },
})

interface ListedEntry {
  readonly name: string
  readonly type: FileType
  readonly size?: number
}

/** Lists names; reads the stat of each file only for sizes and for deeper levels. */
function listEntries(
  fs: FileSystem,
  path: string,
  depth: number,
  sizes: boolean,
  ctx: CallContext,
): AsyncIterable<ListedEntry> {
  return depth === 1 && !sizes ? fs.readdir(path, ctx) : walkEntries(fs, path, depth, ctx)
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
