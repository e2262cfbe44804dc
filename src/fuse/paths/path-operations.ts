import { opcodes } from '../protocol/index.ts'
import { flush, getattr, open, read, release, setattr, write } from './content.ts'
import { opendir, readdir, releasedir } from './directories.ts'
import { create, link, lookup, mkdir, mknod, readlink, symlink } from './names.ts'
import { done, type PathOperation } from './path-operation.ts'
import { rename, rename2, rmdir, unlink } from './removal.ts'

/** Said of file systems that do not tell how much room they have. */
const ROOM = { blocks: 2 ** 28, files: 2 ** 20, blockBytes: 4096, nameBytes: 255 } as const

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

function statfs(): ReturnType<PathOperation> {
  return (reply) => {
    reply.u64(ROOM.blocks)
    reply.u64(ROOM.blocks)
    reply.u64(ROOM.blocks)
    reply.u64(ROOM.files)
    reply.u64(ROOM.files)
    reply.u32(ROOM.blockBytes)
    reply.u32(ROOM.nameBytes)
    reply.u32(ROOM.blockBytes)
    reply.zeros(28)
  }
}
