import { z } from 'zod'
import { type CallContext, type FileSystem, hash, isLinkable, type Stat } from '../../vfs/index.ts'
import { defineVfsTool, READ_ONLY_HINTS, uriSchema } from '../define-tool.ts'
import { escapeUnprintable } from '../text/escape-unprintable.ts'
import type { Tool } from '../tool.ts'
import { MAX_EDITABLE_BYTES, resolveUri } from '../tool-target.ts'

export const vfsInfo: Tool = defineVfsTool({
  name: 'vfs_info',
  title: 'Describe a path',
  description: 'Show the kind, size, modification time and version of a file or directory.',
  hints: READ_ONLY_HINTS,
  schema: z.strictObject({ path: uriSchema }),
  async run({ path: uri }, environment, { ctx }) {
    const { fs, path, displayPath } = resolveUri(environment, uri)
    const stat = await fs.stat(path, ctx)
    const facts = {
      path: displayPath,
      kind: stat.type,
      size: `${stat.size} bytes`,
      modified: stat.mtime.toISOString(),
      ...(stat.mode !== null && { mode: (stat.mode & 0o7777).toString(8).padStart(4, '0') }),
      ...(await describeKind(fs, path, stat, ctx)),
    }
    return Object.entries(facts)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n')
  },
})

/** Describes properties of one kind of file. */
async function describeKind(
  fs: FileSystem,
  path: string,
  { type, size }: Stat,
  ctx: CallContext,
): Promise<Readonly<Record<string, string>>> {
  if (type === 'symlink' && isLinkable(fs)) return { target: escapeUnprintable(await fs.readlink(path, ctx)) }
  if (type === 'file' && size <= MAX_EDITABLE_BYTES) return { sha256: await hash(fs, path, ctx) }
  if (type !== 'directory') return {}
  let entries = 0
  for await (const _ of fs.readdir(path, ctx)) entries++
  return { entries: String(entries) }
}
