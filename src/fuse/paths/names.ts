import {
  type CallContext,
  type FileSystem,
  isLinkable,
  isVfsError,
  mayWrite,
  VfsError,
} from '../../vfs/index.ts'
import { putNoEntry } from '../protocol/index.ts'
import { howToOpen, putOpen } from './content.ts'
import { OpenedFile } from './opened.ts'
import { type PathConnection, type PathOperation, type Put, tell } from './path-operation.ts'
import { type Place, placeIn, statIfPresent } from './place.ts'

const PERMISSIONS = 0o7777
const FORMAT = 0o170000
const REGULAR = 0o100000
const EXCLUSIVE = 0o200

export const lookup: PathOperation = async (request, connection, ctx) => {
  const place = placeIn(connection.files.table, request.node, request.text(0))
  const stat = await statIfPresent(connection.files.fs, place.path, ctx)
  return (reply) => {
    if (stat === undefined) putNoEntry(reply, connection.validity)
    else tell(reply, connection, place, stat)
  }
}

/** Makes a file and opens it; opens one that somebody else has made meanwhile. */
export const create: PathOperation = async (request, connection, ctx) => {
  const { files } = connection
  const [flags, mode] = [request.u32(0), request.u32(4)]
  const place = placeIn(files.table, request.node, request.text(16))
  const isNew = await makeFile(files.fs, place.path, { mode, mustBeNew: (flags & EXCLUSIVE) !== 0 }, ctx)
  const { isWriter, truncates } = howToOpen(flags)
  if (!isNew && isWriter) await mayWrite(files.fs, place.path, ctx)
  const stat = await files.fs.stat(place.path, ctx)
  return (reply) => {
    const node = tell(reply, connection, place, stat)
    const file = new OpenedFile(files, files.fileOf(node, isWriter))
    putOpen(reply, connection, file, { truncates: truncates && !isNew })
  }
}

/** Regular files only: nothing else can be kept. */
export const mknod: PathOperation = async (request, connection, ctx) => {
  const [mode, place] = [request.u32(0), placeIn(connection.files.table, request.node, request.text(16))]
  if ((mode & FORMAT) !== REGULAR) throw new VfsError('EPERM', place.path, { op: 'mknod' })
  await makeFile(connection.files.fs, place.path, { mode, mustBeNew: true }, ctx)
  return told(place, connection, ctx)
}

export const mkdir: PathOperation = async (request, connection, ctx) => {
  const [mode, place] = [request.u32(0), placeIn(connection.files.table, request.node, request.text(8))]
  await connection.files.fs.mkdir(place.path, { mode: mode & PERMISSIONS }, ctx)
  return told(place, connection, ctx)
}

export const symlink: PathOperation = async (request, connection, ctx) => {
  const [place, target] = [
    placeIn(connection.files.table, request.node, request.text(0)),
    request.text(request.behindText(0)),
  ]
  const { fs } = connection.files
  if (!isLinkable(fs)) throw new VfsError('EPERM', place.path, { op: 'symlink' })
  await fs.symlink(target, place.path, ctx)
  return told(place, connection, ctx)
}

export const readlink: PathOperation = async (request, { files }, ctx) => {
  const path = files.table.pathOf(files.table.get(request.node))
  if (!isLinkable(files.fs)) throw new VfsError('EINVAL', path, { op: 'readlink' })
  const target = await files.fs.readlink(path, ctx)
  return (reply) => reply.text(target)
}

/** A file has one name in a file system: EPERM is how programs know that. */
export const link: PathOperation = (request) => {
  throw new VfsError('EPERM', request.text(8), { op: 'link' })
}

/** Answers with what was made. */
async function told(place: Place, connection: PathConnection, ctx: CallContext): Promise<Put> {
  const stat = await connection.files.fs.stat(place.path, ctx)
  return (reply) => {
    tell(reply, connection, place, stat)
  }
}

/** Makes an empty file. False if there is one, which is EEXIST if it must be new. */
async function makeFile(
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
