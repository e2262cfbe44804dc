import { VfsError } from '../../vfs/index.ts'
import type { InodeFs } from '../inode-fs.ts'
import { putEntry, putNoEntry, type Reply, type Request } from '../protocol/index.ts'
import { WAKE_NODE, wakeAttributes } from '../wake-file.ts'
import { type Connection, type Operation, settle, tell } from './operation.ts'

const ROOT = 1
const PERMISSIONS = 0o7777
const renameFlags = { noreplace: 1, exchange: 2 } as const

export const lookup: Operation = (request, reply, connection) => {
  const name = request.text(0)
  if (request.node === ROOT && name === connection.wakeName) {
    settle(connection)
    putEntry(reply, WAKE_NODE, wakeAttributes, connection.validity)
    return
  }
  const ino = found(connection.files, request.node, name)
  // Not ENOENT: only an answer can say that there is nothing, and that this may be remembered.
  if (ino === undefined) putNoEntry(reply, connection.validity)
  else tell(reply, connection, ino)
}

/** The kernel asks for dots only to find what a file handle names, which it has forgotten. */
function found(files: InodeFs, node: number, name: string): number | undefined {
  if (name === '.') return node
  return name === '..' ? files.parentOf(node) : files.lookup(node, name)
}

export const mknod: Operation = (request, reply, connection) => {
  const [mode, rdev, name] = [request.u32(0), request.u32(4), request.text(16)]
  const { node, uid, gid } = request
  make(reply, connection, (files) => files.mknod(node, name, { mode, uid, gid }, rdev))
}

export const mkdir: Operation = (request, reply, connection) => {
  const [owner, name] = [ownerOf(request, request.u32(0)), request.text(8)]
  make(reply, connection, (files) => files.mkdir(request.node, name, owner))
}

export const symlink: Operation = (request, reply, connection) => {
  const [name, target] = [request.text(0), request.text(request.behindText(0))]
  const { node, uid, gid } = request
  make(reply, connection, (files) => files.symlink(node, name, target, { uid, gid }))
}

/** A file without a name, which the answer opens. */
export const tmpfile: Operation = (request, reply, { files, attributes, nodes, validity }) => {
  const owner = ownerOf(request, request.u32(4))
  const ino = attributes.commitWith(() => files.tmpfile(request.node, owner))
  nodes.toldOfOpen(ino)
  putEntry(reply, ino, files.getattr(ino), validity)
  reply.zeros(16)
}

export const readlink: Operation = (request, reply, { files }) => {
  reply.text(files.readlink(request.node))
}

export const link: Operation = (request, reply, connection) => {
  const [ino, name] = [request.u64(0), request.text(8)]
  make(reply, connection, (files) => {
    files.link(ino, request.node, name)
    return ino
  })
}

export const unlink: Operation = (request, _, { files, attributes }) => {
  const name = request.text(0)
  attributes.commitWith(() => files.unlink(request.node, name))
}

export const rmdir: Operation = (request, _, { files, attributes }) => {
  const name = request.text(0)
  attributes.commitWith(() => files.rmdir(request.node, name))
}

export const rename: Operation = (request, _, { files, attributes }) => {
  const [[from, to], target] = [namesOf(request, 8), request.u64(0)]
  attributes.commitWith(() => files.rename(request.node, from, target, to))
}

export const rename2: Operation = (request, _, { files, attributes }) => {
  const [[from, to], target] = [namesOf(request, 16), request.u64(0)]
  const mode = renameMode(request.u32(8), from)
  attributes.commitWith(() => files.rename(request.node, from, target, to, mode))
}

/** Gives an inode a name, and answers with it. It is told only once, however often the change has to be tried. */
function make(reply: Reply, connection: Connection, change: (files: InodeFs) => number): void {
  const { files, attributes } = connection
  const ino = attributes.commitWith(() => change(files))
  tell(reply, connection, ino)
}

function namesOf(request: Request, offset: number): readonly [from: string, to: string] {
  return [request.text(offset), request.text(request.behindText(offset))]
}

/** A whiteout, the third flag, is nothing a vault can hold. */
function renameMode(flags: number, name: string): 'replace' | 'noreplace' | 'exchange' {
  if (flags === 0) return 'replace'
  if (flags === renameFlags.noreplace) return 'noreplace'
  if (flags === renameFlags.exchange) return 'exchange'
  throw new VfsError('EINVAL', name, { op: 'rename', detail: `the flags ${flags} are not supported` })
}

function ownerOf({ uid, gid }: Request, mode: number): { mode: number; uid: number; gid: number } {
  return { mode: mode & PERMISSIONS, uid, gid }
}
