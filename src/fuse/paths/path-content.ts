import { VfsError } from '../../vfs/index.ts'
import {
  type FuseReply,
  MAX_WRITE_BYTES,
  parseSetAttributes,
  parseWriteRequest,
  putAttributes,
} from '../protocol/index.ts'
import { openDeviceHandle } from './open-device-handle.ts'
import { OpenFileHandle, type OpenHandle } from './open-handle.ts'
import { toInodeAttributes } from './path-attributes.ts'
import { emptyReply, type PathConnection, type PathRequestHandler } from './path-request-handler.ts'

const ACCESS_MODE = 0o3
const TRUNCATE = 0o1000
/** Every read is asked for, whatever size the file is said to have. */
const DIRECT_IO = 1 << 0
/** It has no positions, and whoever writes does not wait for whoever reads. */
const STREAM = 1 << 4
/** A close is not announced: there is nothing to store. */
const NO_FLUSH = 1 << 5

/** What the flags of an `open` mean here. */
export function parseOpenFlags(flags: number): { readonly isWriter: boolean; readonly truncates: boolean } {
  return { isWriter: (flags & ACCESS_MODE) !== 0, truncates: (flags & TRUNCATE) !== 0 }
}

/** How the kernel is to use what it opens, beside what follows from that itself. */
interface OpenReplyFlags {
  readonly truncates: boolean
  readonly isDirect?: boolean
  readonly isStream?: boolean
}

/** `fuse_open_out` of what the kernel holds from now on. */
export function putOpenReply(
  reply: FuseReply,
  { handles }: PathConnection,
  file: OpenHandle,
  { truncates, isDirect = false, isStream = false }: OpenReplyFlags,
): void {
  file.begin(truncates)
  reply.u64(handles.add(file))
  reply.u32((isDirect ? DIRECT_IO : 0) | (isStream ? STREAM : 0) | (file.isWriter ? 0 : NO_FLUSH))
  reply.u32(0)
}

export const open: PathRequestHandler = async (request, connection, ctx) => {
  const { files } = connection
  const node = files.table.get(request.node)
  const { isWriter, truncates } = parseOpenFlags(request.u32(0))
  const stat = await files.stat(node, ctx)
  const device = await openDeviceHandle(
    files.fs,
    { node, path: files.table.getPath(node), isWriter },
    stat,
    ctx,
  )
  if (device !== undefined)
    return (reply) => putOpenReply(reply, connection, device, { truncates, isDirect: true, isStream: true })
  if (isWriter) await files.assertWritable(node, ctx)
  // What is made up as it is read has no size in advance. Whoever writes may want to map the file, and can not then.
  const isDirect = !isWriter && (stat.type === 'other' || stat.size === 0)
  const file = new OpenFileHandle(files, files.createOpenFile(node, isWriter))
  return (reply) => putOpenReply(reply, connection, file, { truncates, isDirect })
}

export const read: PathRequestHandler = async (request, { handles }, ctx) => {
  const file = handles.get(request.u64(0))
  const length = Math.min(request.u32(16), MAX_WRITE_BYTES)
  const bytes = await file.read(request.u64(8), length, ctx)
  return (reply) => reply.tail(bytes)
}

export const write: PathRequestHandler = async (request, { handles }, ctx) => {
  const file = handles.get(request.u64(0))
  if (!file.isWriter) throw new VfsError('EBADF', file.node.name, { op: 'write' })
  const { position, bytes, isAppend } = parseWriteRequest(request)
  if (isAppend) await file.append(bytes, ctx)
  else await file.write(position, bytes, ctx)
  return (reply) => {
    reply.u32(bytes.length)
    reply.u32(0)
  }
}

/** At every close, and whenever somebody wants to be sure. */
export const flush: PathRequestHandler = async (request, { handles }, ctx) => {
  await handles.get(request.u64(0)).flush(ctx)
  return emptyReply
}

export const release: PathRequestHandler = async (request, { handles }) => {
  await handles.remove(request.u64(0)).release()
  return emptyReply
}

export const getattr: PathRequestHandler = async (request, { files, owner, validity }, ctx) => {
  const node = files.table.get(request.node)
  const stat = await files.stat(node, ctx)
  const links = files.isOrphan(node) ? 0 : 1
  return (reply) => putAttributes(reply, node.ino, toInodeAttributes(stat, owner, links), validity)
}

/** Sizes and modes are set. Times are the file system's own business, and owners can stay what they are. */
export const setattr: PathRequestHandler = async (request, connection, ctx) => {
  const { files, owner } = connection
  const node = files.table.get(request.node)
  const { uid, gid, mode, size } = parseSetAttributes(request).changes
  if ((uid ?? owner.uid) !== owner.uid || (gid ?? owner.gid) !== owner.gid)
    throw new VfsError('EPERM', files.table.getPath(node), { op: 'chown' })
  if (mode !== undefined) await files.chmod(node, mode, ctx)
  // A device has no size; that it cannot be set bothers nobody.
  if (size !== undefined && node.type !== 'other') await files.truncate(node, size, ctx)
  return getattr(request, connection, ctx)
}
