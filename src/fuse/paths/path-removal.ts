import { type CallContext, type FileSystem, move, VfsError } from '../../vfs/index.ts'
import type { FuseRequest } from '../protocol/index.ts'
import { findStat, getPathDentry, type PathDentry } from './path-dentry.ts'
import {
  emptyReply,
  type PathConnection,
  type PathRequestHandler,
  type ReplyWriter,
} from './path-request-handler.ts'

// Handlers of the requests of the kernel that remove and rename. `path-handlers.ts` lists them.

/** Flag of `renameat2` in Linux: RENAME_NOREPLACE. */
const NO_REPLACE = 1

export const unlink: PathRequestHandler = async (request, { files }, ctx) => {
  const dentry = getPathDentry(files.table, request.node, request.text(0))
  await files.removeName(dentry, ctx, () => files.fs.remove(dentry.path, {}, ctx))
  files.table.remove(dentry.parent, dentry.name)
  return emptyReply
}

export const rmdir: PathRequestHandler = async (request, { files }, ctx) => {
  const { parent, name, path } = getPathDentry(files.table, request.node, request.text(0))
  await assertEmpty(files.fs, path, 'rmdir', ctx)
  await files.fs.remove(path, { recursive: true }, ctx)
  files.table.remove(parent, name)
  return emptyReply
}

export const rename: PathRequestHandler = (request, connection, ctx) => {
  const [from, to] = parseRenameDentries(request, connection, 8)
  return renameEntry(connection, from, to, { replaces: true }, ctx)
}

export const rename2: PathRequestHandler = (request, connection, ctx) => {
  const [from, to] = parseRenameDentries(request, connection, 16)
  const flags = request.u32(8)
  // Exchange and whiteouts are not supported.
  if ((flags & ~NO_REPLACE) !== 0) throw new VfsError('EINVAL', from.path, { op: 'rename' })
  return renameEntry(connection, from, to, { replaces: flags === 0 }, ctx)
}

async function renameEntry(
  { files }: PathConnection,
  from: PathDentry,
  to: PathDentry,
  { replaces }: { readonly replaces: boolean },
  ctx: CallContext,
): Promise<ReplyWriter> {
  const target = await findStat(files.fs, to.path, ctx)
  if (target?.type === 'directory') await assertEmpty(files.fs, to.path, 'rename', ctx)
  // Otherwise unsaved changes would be stored under the old name.
  await files.flushBelow(from.path, ctx)
  await files.removeName(to, ctx, () => move(files.fs, from.path, to.path, { overwrite: replaces }, ctx))
  files.table.move(from.parent, from.name, to.parent, to.name)
  return emptyReply
}

function parseRenameDentries(
  request: FuseRequest,
  { files: { table } }: PathConnection,
  offset: number,
): readonly [PathDentry, PathDentry] {
  return [
    getPathDentry(table, request.node, request.text(offset)),
    getPathDentry(table, request.u64(0), request.text(request.getTextEnd(offset))),
  ]
}

async function assertEmpty(fs: FileSystem, path: string, op: string, ctx: CallContext): Promise<void> {
  for await (const _ of fs.readdir(path, ctx)) throw new VfsError('ENOTEMPTY', path, { op })
}
