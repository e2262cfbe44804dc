import { VfsError } from '../../vfs/index.ts'
import { MAX_WRITE_BYTES, putAttributes, type Reply, setAttributesOf } from '../protocol/index.ts'
import type { OpenFile } from './open-file.ts'
import { attributesOf } from './path-attributes.ts'
import { done, type PathConnection, type PathOperation } from './path-operation.ts'

const WRITE_HEADER_BYTES = 40
const ACCESS_MODE = 0o3
const TRUNCATE = 0o1000
/** Every read is asked for, whatever size the file is said to have. */
const DIRECT_IO = 1 << 0
/** A close is not announced: there is nothing to store. */
const NO_FLUSH = 1 << 5

/** What the flags of an `open` mean here. */
export function howToOpen(flags: number): { readonly isWriter: boolean; readonly truncates: boolean } {
  return { isWriter: (flags & ACCESS_MODE) !== 0, truncates: (flags & TRUNCATE) !== 0 }
}

/** `fuse_open_out` of a file that the kernel holds from now on. */
export function putOpen(
  reply: Reply,
  { files, opened }: PathConnection,
  file: OpenFile,
  { truncates, isDirect = false }: { readonly truncates: boolean; readonly isDirect?: boolean },
): void {
  files.opened(file, truncates)
  reply.u64(opened.add(file))
  reply.u32((isDirect ? DIRECT_IO : 0) | (file.isWriter ? 0 : NO_FLUSH))
  reply.u32(0)
}

export const open: PathOperation = async (request, connection, ctx) => {
  const { files } = connection
  const node = files.table.get(request.node)
  const { isWriter, truncates } = howToOpen(request.u32(0))
  const { size, type } = await files.stat(node, ctx)
  if (isWriter) await files.assertWritable(node, ctx)
  // What is made up as it is read has no size in advance. Whoever writes may want to map the file, and can not then.
  const isDirect = !isWriter && (type === 'other' || size === 0)
  return (reply) => putOpen(reply, connection, files.fileOf(node, isWriter), { truncates, isDirect })
}

export const read: PathOperation = async (request, { files, opened }, ctx) => {
  const file = opened.get(request.u64(0))
  const length = Math.min(request.u32(16), MAX_WRITE_BYTES)
  const bytes = await files.read(file, request.u64(8), length, ctx)
  return (reply) => reply.tail(bytes)
}

export const write: PathOperation = async (request, { files, opened }, ctx) => {
  const file = opened.get(request.u64(0))
  const length = request.u32(16)
  if (!file.isWriter) throw new VfsError('EBADF', file.node.name, { op: 'write' })
  await files.write(file, request.u64(8), request.data(WRITE_HEADER_BYTES, length), ctx)
  return (reply) => {
    reply.u32(length)
    reply.u32(0)
  }
}

/** At every close, and whenever somebody wants to be sure. */
export const flush: PathOperation = async (request, { files, opened }, ctx) => {
  await files.flush(opened.get(request.u64(0)).node, ctx)
  return done
}

export const release: PathOperation = async (request, { files, opened }) => {
  await files.release(opened.take(request.u64(0)))
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
  if (size !== undefined) await files.truncate(node, size, ctx)
  return getattr(request, connection, ctx)
}
