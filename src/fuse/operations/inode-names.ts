import { VfsError } from '../../vfs/index.ts'
import type { InodeFs } from '../inode-fs.ts'
import { type FuseReply, type FuseRequest, putEntry, putNoEntry } from '../protocol/index.ts'
import { WAKE_NODE, wakeAttributes } from '../wake-file.ts'
import {
  commitPending,
  type FuseConnection,
  type InodeRequestHandler,
  replyWithInode,
} from './inode-request-handler.ts'

const ROOT_INODE = 1
const PERMISSIONS = 0o7777
const renameFlags = { noreplace: 1, exchange: 2 } as const

export const lookup: InodeRequestHandler = (request, reply, connection) => {
  const name = request.text(0)
  if (request.node === ROOT_INODE && name === connection.wakeName) {
    commitPending(connection)
    putEntry(reply, WAKE_NODE, wakeAttributes, connection.validity)
    return
  }
  const ino = findInode(connection.files, request.node, name)
  // Not ENOENT: only a reply with an empty entry can be cached.
  if (ino === undefined) putNoEntry(reply, connection.validity)
  else replyWithInode(reply, connection, ino)
}

/** Returns the inode of a name. The kernel looks up dots only to resolve a file handle that it has forgotten. */
function findInode(files: InodeFs, node: number, name: string): number | undefined {
  if (name === '.') return node
  return name === '..' ? files.getParent(node) : files.lookup(node, name)
}

export const mknod: InodeRequestHandler = (request, reply, connection) => {
  const [mode, rdev, name] = [request.u32(0), request.u32(4), request.text(16)]
  const { node, uid, gid } = request
  replyWithNewName(reply, connection, (files) => files.mknod(node, name, { mode, uid, gid }, rdev))
}

export const mkdir: InodeRequestHandler = (request, reply, connection) => {
  const [owner, name] = [toInodeOwner(request, request.u32(0)), request.text(8)]
  replyWithNewName(reply, connection, (files) => files.mkdir(request.node, name, owner))
}

export const symlink: InodeRequestHandler = (request, reply, connection) => {
  const [name, target] = [request.text(0), request.text(request.getTextEnd(0))]
  const { node, uid, gid } = request
  replyWithNewName(reply, connection, (files) => files.symlink(node, name, target, { uid, gid }))
}

/** Creates an open file without a name. */
export const tmpfile: InodeRequestHandler = (request, reply, { files, attributes, nodes, validity }) => {
  const owner = toInodeOwner(request, request.u32(4))
  const ino = attributes.commitWith(() => files.tmpfile(request.node, owner))
  nodes.addOpen(ino)
  putEntry(reply, ino, files.getattr(ino), validity)
  reply.zeros(16)
}

export const readlink: InodeRequestHandler = (request, reply, { files }) => {
  reply.text(files.readlink(request.node))
}

export const link: InodeRequestHandler = (request, reply, connection) => {
  const [ino, name] = [request.u64(0), request.text(8)]
  replyWithNewName(reply, connection, (files) => {
    files.link(ino, request.node, name)
    return ino
  })
}

export const unlink: InodeRequestHandler = (request, _, { files, attributes }) => {
  const name = request.text(0)
  attributes.commitWith(() => files.unlink(request.node, name))
}

export const rmdir: InodeRequestHandler = (request, _, { files, attributes }) => {
  const name = request.text(0)
  attributes.commitWith(() => files.rmdir(request.node, name))
}

export const rename: InodeRequestHandler = (request, _, { files, attributes }) => {
  const [[from, to], target] = [parseRenameNames(request, 8), request.u64(0)]
  attributes.commitWith(() => files.rename(request.node, from, target, to))
}

export const rename2: InodeRequestHandler = (request, _, { files, attributes }) => {
  const [[from, to], target] = [parseRenameNames(request, 16), request.u64(0)]
  const mode = parseRenameMode(request.u32(8), from)
  attributes.commitWith(() => files.rename(request.node, from, target, to, mode))
}

/** Adds a name to an inode and replies with it. Counts one lookup, however often the change is retried. */
function replyWithNewName(
  reply: FuseReply,
  connection: FuseConnection,
  change: (files: InodeFs) => number,
): void {
  const { files, attributes } = connection
  const ino = attributes.commitWith(() => change(files))
  replyWithInode(reply, connection, ino)
}

function parseRenameNames(request: FuseRequest, offset: number): readonly [from: string, to: string] {
  return [request.text(offset), request.text(request.getTextEnd(offset))]
}

/** Parses the flags of `rename2`. EINVAL for others, such as the whiteout, which a vault cannot store. */
function parseRenameMode(flags: number, name: string): 'replace' | 'noreplace' | 'exchange' {
  if (flags === 0) return 'replace'
  if (flags === renameFlags.noreplace) return 'noreplace'
  if (flags === renameFlags.exchange) return 'exchange'
  throw new VfsError('EINVAL', name, { op: 'rename', detail: `the flags ${flags} are not supported` })
}

function toInodeOwner({ uid, gid }: FuseRequest, mode: number): { mode: number; uid: number; gid: number } {
  return { mode: mode & PERMISSIONS, uid, gid }
}
