import type { StatsFs } from 'node:fs'
import { statfs as diskRoom } from 'node:fs/promises'
import { opcodes } from '../protocol/index.ts'
import { flush, getattr, open, read, release, setattr, write } from './path-content.ts'
import { opendir, readdir, releasedir } from './path-directories.ts'
import { create, link, lookup, mkdir, mknod, readlink, symlink } from './path-names.ts'
import { rename, rename2, rmdir, unlink } from './path-removal.ts'
import { emptyReply, type PathRequestHandler } from './path-request-handler.ts'

const NAME_BYTES = 255
/** Reported space if the disk is unknown. */
const UNKNOWN_SPACE = {
  blocks: 2 ** 28,
  bfree: 2 ** 28,
  bavail: 2 ** 28,
  files: 2 ** 20,
  ffree: 2 ** 20,
  bsize: 4096,
} as const

/** Replies with the free space of the disk with the files, so that programs can check whether a write fits. */
const statfs: PathRequestHandler = async (_request, { disk }) => {
  const { blocks, bfree, bavail, files, ffree, bsize } = (await findDiskSpace(disk)) ?? UNKNOWN_SPACE
  return (reply) => {
    for (const count of [blocks, bfree, bavail, files, ffree]) reply.u64(count)
    reply.u32(bsize)
    reply.u32(NAME_BYTES)
    reply.u32(bsize)
    reply.zeros(28)
  }
}

/** A request that is not listed gets ENOSYS: the kernel handles it itself or fails the call. */
export const pathHandlers: ReadonlyMap<number, PathRequestHandler> = new Map<number, PathRequestHandler>([
  [opcodes.lookup, lookup],
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
  [opcodes.open, open],
  [opcodes.read, read],
  [opcodes.write, write],
  [opcodes.statfs, statfs],
  [opcodes.release, release],
  [opcodes.fsync, flush],
  [opcodes.flush, flush],
  [opcodes.opendir, opendir],
  [opcodes.readdir, readdir],
  [opcodes.releasedir, releasedir],
  [opcodes.fsyncdir, () => emptyReply],
  [opcodes.create, create],
  [opcodes.destroy, () => emptyReply],
  [opcodes.rename2, rename2],
])

/** Returns undefined if the disk is unknown or cannot be queried. */
async function findDiskSpace(disk: string | undefined): Promise<StatsFs | undefined> {
  return disk === undefined ? undefined : diskRoom(disk).catch(() => undefined)
}
