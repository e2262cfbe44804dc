/**
 * Request handlers by inode: decode a request, call the file system, encode the reply. One function per request,
 * grouped as in the protocol; state lives only in the connection. Invariant: an unlisted request gets ENOSYS, which the
 * kernel remembers and handles itself from then on.
 */
import { opcodes } from '../protocol/index.ts'
import { getattr, setattr } from './inode-attributes.ts'
import { fallocate, fsync, lseek, read, write } from './inode-content.ts'
import { batchForget, destroy, forget, notifyReply, statfs } from './inode-control.ts'
import { readdir, readdirplus } from './inode-directories.ts'
import {
  link,
  lookup,
  mkdir,
  mknod,
  readlink,
  rename,
  rename2,
  rmdir,
  symlink,
  tmpfile,
  unlink,
} from './inode-names.ts'
import type { InodeRequestHandler } from './inode-request-handler.ts'
import { getxattr, listxattr, removexattr, setxattr } from './inode-xattrs.ts'

export type { FuseConnection, InodeRequestHandler } from './inode-request-handler.ts'

/**
 * Handlers by opcode. The kernel itself does what is not listed.
 * Without `open` and `create` the kernel creates files with `mknod` and opens them itself.
 * Without `flush` a close is complete once the data is written. Without `access` and locks the kernel decides itself.
 */
export const inodeHandlers: ReadonlyMap<number, InodeRequestHandler> = new Map<number, InodeRequestHandler>([
  [opcodes.lookup, lookup],
  [opcodes.forget, forget],
  [opcodes.getattr, getattr],
  [opcodes.setattr, setattr],
  [opcodes.readlink, readlink],
  [opcodes.symlink, symlink],
  [opcodes.mknod, mknod],
  [opcodes.mkdir, mkdir],
  [opcodes.unlink, unlink],
  [opcodes.rmdir, rmdir],
  [opcodes.rename, rename],
  [opcodes.link, link],
  [opcodes.read, read],
  [opcodes.write, write],
  [opcodes.statfs, statfs],
  [opcodes.release, acknowledge],
  [opcodes.fsync, fsync],
  [opcodes.setxattr, setxattr],
  [opcodes.getxattr, getxattr],
  [opcodes.listxattr, listxattr],
  [opcodes.removexattr, removexattr],
  [opcodes.readdir, readdir],
  [opcodes.releasedir, acknowledge],
  [opcodes.fsyncdir, fsync],
  [opcodes.interrupt, acknowledge],
  [opcodes.destroy, destroy],
  [opcodes.notifyReply, notifyReply],
  [opcodes.batchForget, batchForget],
  [opcodes.fallocate, fallocate],
  [opcodes.readdirplus, readdirplus],
  [opcodes.rename2, rename2],
  [opcodes.lseek, lseek],
  [opcodes.syncfs, fsync],
  [opcodes.tmpfile, tmpfile],
])

/** Confirms a request that needs no work. */
function acknowledge(): void {}
