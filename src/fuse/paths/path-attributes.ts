import { type FileType, getPermissions, type Stat } from '../../vfs/index.ts'
import type { InodeAttributes } from '../inode-fs.ts'

const BLOCK_BYTES = 512
/** File type bits, as in C. Types other than file, directory and link are treated as files. */
export const formatBits: Readonly<Record<FileType, number>> = {
  file: 0o100000,
  directory: 0o040000,
  symlink: 0o120000,
  other: 0o100000,
}

/** Owner of everything in a mount, since file systems have no owners. */
export interface MountOwner {
  readonly uid: number
  readonly gid: number
}

/** Converts a `Stat` to the attributes of an inode. */
export function toInodeAttributes(stat: Stat, owner: MountOwner, nlink = 1): InodeAttributes {
  const { type, size, mtime } = stat
  const ms = mtime.getTime()
  const seconds = Math.floor(ms / 1000)
  const time = { seconds, nanos: Math.floor((ms - seconds * 1000) * 1_000_000) }
  return {
    ...owner,
    mode: formatBits[type] | getPermissions(stat),
    nlink: type === 'directory' ? nlink + 1 : nlink,
    size,
    blocks: Math.ceil(size / BLOCK_BYTES),
    atime: time,
    mtime: time,
    ctime: time,
    rdev: 0,
  }
}
