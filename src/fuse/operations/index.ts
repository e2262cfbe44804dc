/**
 * What each request does: decoded, asked of the file system by inode, answered.
 * One function per request of the kernel, grouped as in the protocol; none keeps anything but what a connection has.
 * Invariant: what is not in the list is answered with ENOSYS, which the kernel remembers and does itself from then on.
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
 * Without `open` and `create` the kernel makes files with `mknod` and opens them alone; without `flush` a close is
 * over when its data is written; without `access` and locks it decides itself.
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

/** There is nothing to do: it is only announced. */
function acknowledge(): void {}
