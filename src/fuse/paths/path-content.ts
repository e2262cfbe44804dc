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

// Handlers of the requests of the kernel that open, read and change a file. `path-handlers.ts` lists them.

/** Flags of `open` in Linux: O_ACCMODE and O_TRUNC. */
const ACCESS_MODE = 0o3
const TRUNCATE = 0o1000
/** Flag of a reply to `open`: the kernel sends every read to the server, whatever the size of the file. */
const DIRECT_IO = 1 << 0
/** Flag of a reply: the file has no offsets, and writers do not wait for readers. */
const STREAM = 1 << 4
/** Flag of a reply: the kernel sends no flush at close, because there is nothing to store. */
const NO_FLUSH = 1 << 5

/** Parses the flags of an `open`. */
export function parseOpenFlags(flags: number): { readonly isWriter: boolean; readonly truncates: boolean } {
  return { isWriter: (flags & ACCESS_MODE) !== 0, truncates: (flags & TRUNCATE) !== 0 }
}

/** Properties of an opened file that its handle does not have. */
interface OpenReplyFlags {
  readonly truncates: boolean
  readonly isDirect?: boolean
  readonly isStream?: boolean
}

/** Writes the `fuse_open_out` of a new handle. */
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
  // Generated content may have size 0 until it is read. A writer may want to map the file, which direct I/O prevents.
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

/** Stores the changes of a file, at every close and on `fsync`. */
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

/** Sets size and mode. The file system sets times itself; a change of owner is EPERM. */
export const setattr: PathRequestHandler = async (request, connection, ctx) => {
  const { files, owner } = connection
  const node = files.table.get(request.node)
  const { uid, gid, mode, size } = parseSetAttributes(request).changes
  if ((uid ?? owner.uid) !== owner.uid || (gid ?? owner.gid) !== owner.gid)
    throw new VfsError('EPERM', files.table.getPath(node), { op: 'chown' })
  if (mode !== undefined) await files.chmod(node, mode, ctx)
  // Ignored for a device, which has no size.
  if (size !== undefined && node.type !== 'other') await files.truncate(node, size, ctx)
  return getattr(request, connection, ctx)
}
