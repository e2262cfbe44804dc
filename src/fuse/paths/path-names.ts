import {
  assertWritable,
  type CallContext,
  type FileSystem,
  isLinkable,
  isVfsError,
  VfsError,
} from '../../vfs/index.ts'
import { putNoEntry } from '../protocol/index.ts'
import { OpenFileHandle } from './open-handle.ts'
import { parseOpenFlags, putOpenReply } from './path-content.ts'
import { findStat, getPathDentry, type PathDentry } from './path-dentry.ts'
import {
  type PathConnection,
  type PathRequestHandler,
  type ReplyWriter,
  replyWithName,
} from './path-request-handler.ts'

// Handlers of the requests of the kernel that find and create names. `path-handlers.ts` lists them.

/** Bits of a mode in Linux: permissions, the type of a file, and the type of a regular one. */
const PERMISSIONS = 0o7777
const FORMAT = 0o170000
const REGULAR = 0o100000
/** Flag of `open` in Linux: O_EXCL. */
const EXCLUSIVE = 0o200

export const lookup: PathRequestHandler = async (request, connection, ctx) => {
  const dentry = getPathDentry(connection.files.table, request.node, request.text(0))
  const stat = await findStat(connection.files.fs, dentry.path, ctx)
  return (reply) => {
    if (stat === undefined) putNoEntry(reply, connection.validity)
    else replyWithName(reply, connection, dentry, stat)
  }
}

/** Creates and opens a file; opens the existing one if another process created it meanwhile. */
export const create: PathRequestHandler = async (request, connection, ctx) => {
  const { files } = connection
  const [flags, mode] = [request.u32(0), request.u32(4)]
  const dentry = getPathDentry(files.table, request.node, request.text(16))
  const isNew = await createFile(files.fs, dentry.path, { mode, mustBeNew: (flags & EXCLUSIVE) !== 0 }, ctx)
  const { isWriter, truncates } = parseOpenFlags(flags)
  if (!isNew && isWriter) await assertWritable(files.fs, dentry.path, ctx)
  const stat = await files.fs.stat(dentry.path, ctx)
  return (reply) => {
    const node = replyWithName(reply, connection, dentry, stat)
    const file = new OpenFileHandle(files, files.createOpenFile(node, isWriter))
    putOpenReply(reply, connection, file, { truncates: truncates && !isNew })
  }
}

/** Creates regular files only; others cannot be stored. */
export const mknod: PathRequestHandler = async (request, connection, ctx) => {
  const [mode, dentry] = [
    request.u32(0),
    getPathDentry(connection.files.table, request.node, request.text(16)),
  ]
  if ((mode & FORMAT) !== REGULAR) throw new VfsError('EPERM', dentry.path, { op: 'mknod' })
  await createFile(connection.files.fs, dentry.path, { mode, mustBeNew: true }, ctx)
  return createEntryReply(dentry, connection, ctx)
}

export const mkdir: PathRequestHandler = async (request, connection, ctx) => {
  const [mode, dentry] = [
    request.u32(0),
    getPathDentry(connection.files.table, request.node, request.text(8)),
  ]
  await connection.files.fs.mkdir(dentry.path, { mode: mode & PERMISSIONS }, ctx)
  return createEntryReply(dentry, connection, ctx)
}

export const symlink: PathRequestHandler = async (request, connection, ctx) => {
  const [dentry, target] = [
    getPathDentry(connection.files.table, request.node, request.text(0)),
    request.text(request.getTextEnd(0)),
  ]
  const { fs } = connection.files
  if (!isLinkable(fs)) throw new VfsError('EPERM', dentry.path, { op: 'symlink' })
  await fs.symlink(target, dentry.path, ctx)
  return createEntryReply(dentry, connection, ctx)
}

export const readlink: PathRequestHandler = async (request, { files }, ctx) => {
  const path = files.table.getPath(files.table.get(request.node))
  if (!isLinkable(files.fs)) throw new VfsError('EINVAL', path, { op: 'readlink' })
  const target = await files.fs.readlink(path, ctx)
  return (reply) => reply.text(target)
}

/** Hard links are not supported; programs expect EPERM for that. */
export const link: PathRequestHandler = (request) => {
  throw new VfsError('EPERM', request.text(8), { op: 'link' })
}

/** Replies with the new entry. */
async function createEntryReply(
  dentry: PathDentry,
  connection: PathConnection,
  ctx: CallContext,
): Promise<ReplyWriter> {
  const stat = await connection.files.fs.stat(dentry.path, ctx)
  return (reply) => {
    replyWithName(reply, connection, dentry, stat)
  }
}

/** Creates an empty file. Returns false if it exists, or throws EEXIST if it must be new. */
async function createFile(
  fs: FileSystem,
  path: string,
  { mode, mustBeNew }: { readonly mode: number; readonly mustBeNew: boolean },
  ctx: CallContext,
): Promise<boolean> {
  try {
    await fs.write(path, '', { parents: false, ifMatch: null, mode: mode & PERMISSIONS }, ctx)
    return true
  } catch (error) {
    if (!isVfsError(error, 'ECONFLICT')) throw error
    if (mustBeNew) throw new VfsError('EEXIST', path, { op: 'open', cause: error })
    return false
  }
}
