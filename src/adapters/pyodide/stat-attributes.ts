import { type FileType, getPermissions, type SyncStat } from '../../vfs/index.ts'
import type { FsAttributes } from './emscripten.ts'

const BLOCK_BYTES = 4096
/** C type bits. Anything but a file, directory or link counts as a file. */
const typeBits: Readonly<Record<FileType, number>> = {
  file: 0o100000,
  directory: 0o040000,
  symlink: 0o120000,
  other: 0o100000,
}

/** Combines type and permissions as `st_mode`. */
export function toMode({ type, mode }: Pick<SyncStat, 'type' | 'mode'>): number {
  return typeBits[type] | getPermissions({ type, mode })
}

/** Converts a stat for the runtime. File systems have no owners and one time. */
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
