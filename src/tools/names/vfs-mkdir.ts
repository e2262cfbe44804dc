import { z } from 'zod'
import { vfsTool, vfsUri } from '../define-tool.ts'
import { vfsPlace } from '../place.ts'
import type { Tool } from '../tool.ts'

export const vfsMkdir: Tool = vfsTool({
  name: 'vfs_mkdir',
  title: 'Make a directory',
  description: 'Make a directory and those above it that are missing; one that is there already is fine.',
  hints: { readOnly: false, destructive: false, idempotent: true },
  schema: z.strictObject({ path: vfsUri }),
  async run({ path: uri }, { fs }, { ctx }) {
    const { path, shown } = vfsPlace(fs, uri)
    await fs.mkdir(path, { parents: true }, ctx)
    return `${shown} is a directory`
  },
})
