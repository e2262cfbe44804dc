import { z } from 'zod'
import { isVfsError, VfsError } from '../../vfs/index.ts'
import { defineVfsTool, uriSchema } from '../define-tool.ts'
import type { Tool } from '../tool.ts'
import { resolveUri } from '../tool-target.ts'
import { forgetReads } from './vfs-transfer.ts'

export const vfsDelete: Tool = defineVfsTool({
  name: 'vfs_delete',
  title: 'Delete a file or directory',
  description: 'Delete a file, or with recursive a directory and its content.',
  hints: { readOnly: false, destructive: true, idempotent: false },
  schema: z.strictObject({
    path: uriSchema,
    recursive: z.boolean().default(false).describe('Delete a directory and its content.'),
  }),
  async run({ path: uri, recursive }, environment, { ctx }) {
    const target = resolveUri(environment, uri)
    try {
      await environment.fs.remove(target.path, { recursive }, ctx)
    } catch (error) {
      if (!isVfsError(error, 'EISDIR')) throw error
      const detail = 'a directory; pass recursive: true to delete it and its content'
      throw new VfsError('EISDIR', target.path, { op: 'remove', detail })
    }
    forgetReads(environment, target)
    return `deleted ${target.displayPath}`
  },
})
