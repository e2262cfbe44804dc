import { z } from 'zod'
import { defineVfsTool, uriSchema } from '../define-tool.ts'
import type { Tool } from '../tool.ts'
import { resolveUri } from '../tool-target.ts'

export const vfsMkdir: Tool = defineVfsTool({
  name: 'vfs_mkdir',
  title: 'Create a directory',
  description: 'Create a directory and its missing parents; an existing directory is accepted.',
  hints: { readOnly: false, destructive: false, idempotent: true },
  schema: z.strictObject({ path: uriSchema }),
  async run({ path: uri }, environment, { ctx }) {
    const { fs, path, displayPath } = resolveUri(environment, uri)
    await fs.mkdir(path, { parents: true }, ctx)
    return `${displayPath} is a directory`
  },
})
