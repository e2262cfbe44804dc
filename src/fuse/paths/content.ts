import { VfsError } from '../../vfs/index.ts'
import {
  MAX_WRITE_BYTES,
  putAttributes,
  type Reply,
  setAttributesOf,
  writeRequestOf,
} from '../protocol/index.ts'
import { type Opened, OpenedFile } from './opened.ts'
import { openDevice } from './opened-device.ts'
import { attributesOf } from './path-attributes.ts'
import { done, type PathConnection, type PathOperation } from './path-operation.ts'

const ACCESS_MODE = 0o3
const TRUNCATE = 0o1000
/** Every read is asked for, whatever size the file is said to have. */
const DIRECT_IO = 1 << 0
/** It has no positions, and whoever writes does not wait for whoever reads. */
const STREAM = 1 << 4
/** A close is not announced: there is nothing to store. */
const NO_FLUSH = 1 << 5

/** What the flags of an `open` mean here. */
export function howToOpen(flags: number): { readonly isWriter: boolean; readonly truncates: boolean } {
  return { isWriter: (flags & ACCESS_MODE) !== 0, truncates: (flags & TRUNCATE) !== 0 }
}

/** How the kernel is to use what it opens, beside what follows from that itself. */
interface OpenFlags {
  readonly truncates: boolean
  readonly isDirect?: boolean
  readonly isStream?: boolean
}

/** `fuse_open_out` of what the kernel holds from now on. */
export function putOpen(
  reply: Reply,
  { opened }: PathConnection,
  file: Opened,
  { truncates, isDirect = false, isStream = false }: OpenFlags,
): void {
  file.begin(truncates)
  reply.u64(opened.add(file))
  reply.u32((isDirect ? DIRECT_IO : 0) | (isStream ? STREAM : 0) | (file.isWriter ? 0 : NO_FLUSH))
  reply.u32(0)
}

export const open: PathOperation = async (request, connection, ctx) => {
  const { files } = connection
  const node = files.table.get(request.node)
  const { isWriter, truncates } = howToOpen(request.u32(0))
  const stat = await files.stat(node, ctx)
  const device = await openDevice(files.fs, { node, path: files.table.pathOf(node), isWriter }, stat, ctx)
  if (device !== undefined)
    return (reply) => putOpen(reply, connection, device, { truncates, isDirect: true, isStream: true })
  if (isWriter) await files.assertWritable(node, ctx)
  // What is made up as it is read has no size in advance. Whoever writes may want to map the file, and can not then.
  const isDirect = !isWriter && (stat.type === 'other' || stat.size === 0)
  const file = new OpenedFile(files, files.fileOf(node, isWriter))
  return (reply) => putOpen(reply, connection, file, { truncates, isDirect })
}

export const read: PathOperation = async (request, { opened }, ctx) => {
  const file = opened.get(request.u64(0))
  const length = Math.min(request.u32(16), MAX_WRITE_BYTES)
  const bytes = await file.read(request.u64(8), length, ctx)
  return (reply) => reply.tail(bytes)
}

export const write: PathOperation = async (request, { opened }, ctx) => {
  const file = opened.get(request.u64(0))
  if (!file.isWriter) throw new VfsError('EBADF', file.node.name, { op: 'write' })
  const { position, bytes, isAppend } = writeRequestOf(request)
  if (isAppend) await file.append(bytes, ctx)
  else await file.write(position, bytes, ctx)
  return (reply) => {
    reply.u32(bytes.length)
    reply.u32(0)
  }
}

/** At every close, and whenever somebody wants to be sure. */
export const flush: PathOperation = async (request, { opened }, ctx) => {
  await opened.get(request.u64(0)).flush(ctx)
  return done
}

export const release: PathOperation = async (request, { opened }) => {
  await opened.take(request.u64(0)).release()
  return done
}

export const getattr: PathOperation = async (request, { files, owner, validity }, ctx) => {
  const node = files.table.get(request.node)
  const stat = await files.stat(node, ctx)
  const links = files.isOrphan(node) ? 0 : 1
  return (reply) => putAttributes(reply, node.ino, attributesOf(stat, owner, links), validity)
}

/** Sizes and modes are set. Times are the file system's own business, and owners can stay what they are. */
export const setattr: PathOperation = async (request, connection, ctx) => {
  const { files, owner } = connection
  const node = files.table.get(request.node)
  const { uid, gid, mode, size } = setAttributesOf(request).changes
  if ((uid ?? owner.uid) !== owner.uid || (gid ?? owner.gid) !== owner.gid)
    throw new VfsError('EPERM', files.table.pathOf(node), { op: 'chown' })
  if (mode !== undefined) await files.chmod(node, mode, ctx)
  // A device has no size; that it cannot be set bothers nobody.
  if (size !== undefined && node.type !== 'other') await files.truncate(node, size, ctx)
  return getattr(request, connection, ctx)
}
