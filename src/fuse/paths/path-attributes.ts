import { type FileType, getPermissions, type Stat } from '../../vfs/index.ts'
import type { InodeAttributes } from '../inode-fs.ts'

const BLOCK_BYTES = 512
/** As C has them. What is neither file, directory nor link is read like a file. */
export const formatBits: Readonly<Record<FileType, number>> = {
  file: 0o100000,
  directory: 0o040000,
  symlink: 0o120000,
  other: 0o100000,
}

/** Whom everything in a mount belongs to: file systems know no owners. */
export interface MountOwner {
  readonly uid: number
  readonly gid: number
}

/** What `stat` tells of something in a file system. */
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
