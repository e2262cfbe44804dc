import type { StatsFs } from 'node:fs'
import { statfs as diskRoom } from 'node:fs/promises'
import { opcodes } from '../protocol/index.ts'
import { flush, getattr, open, read, release, setattr, write } from './content.ts'
import { opendir, readdir, releasedir } from './directories.ts'
import { create, link, lookup, mkdir, mknod, readlink, symlink } from './names.ts'
import { done, type PathOperation } from './path-operation.ts'
import { rename, rename2, rmdir, unlink } from './removal.ts'

const NAME_BYTES = 255
/** The room of file systems on no disk that is known. */
const PLENTY = {
  blocks: 2 ** 28,
  bfree: 2 ** 28,
  bavail: 2 ** 28,
  files: 2 ** 20,
  ffree: 2 ** 20,
  bsize: 4096,
} as const

/** Answers with the room of the disk that has the files, which tells a program whether what it writes will fit. */
const statfs: PathOperation = async (_request, { disk }) => {
  const { blocks, bfree, bavail, files, ffree, bsize } = (await roomOn(disk)) ?? PLENTY
  return (reply) => {
    for (const count of [blocks, bfree, bavail, files, ffree]) reply.u64(count)
    reply.u32(bsize)
    reply.u32(NAME_BYTES)
    reply.u32(bsize)
    reply.zeros(28)
  }
}

/** What is not here is answered with ENOSYS: the kernel then does it itself, or tells that it cannot be done. */
export const pathOperations: ReadonlyMap<number, PathOperation> = new Map<number, PathOperation>([
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
  [opcodes.fsyncdir, () => done],
  [opcodes.create, create],
  [opcodes.destroy, () => done],
  [opcodes.rename2, rename2],
])

/** Returns undefined where no disk is known, or it does not answer. */
async function roomOn(disk: string | undefined): Promise<StatsFs | undefined> {
  return disk === undefined ? undefined : diskRoom(disk).catch(() => undefined)
}
