import { type FileType, getPermissions, type SyncStat } from '../../vfs/index.ts'
import type { FsAttributes } from './emscripten.ts'

const BLOCK_BYTES = 4096
/** As C has them. What is neither file, directory nor link is read like a file. */
const typeBits: Readonly<Record<FileType, number>> = {
  file: 0o100000,
  directory: 0o040000,
  symlink: 0o120000,
  other: 0o100000,
}

/** Type and permissions in one number, as C has them. */
export function toMode({ type, mode }: Pick<SyncStat, 'type' | 'mode'>): number {
  return typeBits[type] | getPermissions({ type, mode })
}

/** What `stat` tells of something on the device. File systems know no owners and one time. */
export function toAttributes(stat: SyncStat, dev: number): FsAttributes {
  const { size, mtime, ino, nlink } = stat
  return {
    dev,
    ino,
    mode: toMode(stat),
    nlink,
    uid: 0,
    gid: 0,
    rdev: 0,
    size,
    blksize: BLOCK_BYTES,
    blocks: Math.ceil(size / BLOCK_BYTES),
    atime: mtime,
    mtime,
    ctime: mtime,
  }
}
