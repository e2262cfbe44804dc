import { z } from 'zod'
import { VfsError, type WalkEntry } from '../../vfs/index.ts'
import { LOOKS, vfsTool, vfsUri } from '../define-tool.ts'
import { openable, vfsPlace } from '../place.ts'
import { TextOutput } from '../text/text-output.ts'
import type { Tool } from '../tool.ts'
import { inUri } from '../uri.ts'

const CUT = '… (cut; list a smaller directory, or with a smaller depth)'

export const vfsList: Tool = vfsTool({
  name: 'vfs_list',
  title: 'List a directory',
  description:
    'List what is in a directory, by names as they stand in a URI: directories end with a slash, files have their size in bytes.',
  hints: LOOKS,
  schema: z.strictObject({
    path: vfsUri,
    depth: z
      .int()
      .min(1, 'must be 1 or more')
      .default(1)
      .describe('How many levels deep; 1 is the directory alone.'),
  }),
  async run({ path: uri, depth }, { fs }, { ctx, progress }) {
    const place = vfsPlace(fs, uri)
    const { path, shown } = place
    const { type } = await openable(place, ctx)
    if (type === 'file') throw new VfsError('ENOTDIR', path, { op: 'list' })
    const output = new TextOutput()
    for await (const entry of fs.walk(path, { maxDepth: depth, includeDirs: true }, ctx)) {
      output.add(told(entry, path))
      if (output.isFull) break
      progress(output.count)
    }
    return output.text(`${shown} is empty`, CUT)
  },
})

function told({ path, stat }: WalkEntry, root: string): string {
  const name = inUri(path.slice(root === '/' ? 1 : root.length + 1))
  if (stat.type === 'directory') return `${name}/`
  return stat.type === 'file' ? `${name}\t${stat.size}` : `${name}\t(${stat.type})`
}
