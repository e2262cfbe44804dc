import { type FileType, permissionsOf, type Stat } from '../../vfs/index.ts'
import type { InodeAttributes } from '../inode-fs.ts'

const BLOCK_BYTES = 512
/** As C has them. What is neither file, directory nor link is read like a file. */
export const formats: Readonly<Record<FileType, number>> = {
  file: 0o100000,
  directory: 0o040000,
  symlink: 0o120000,
  other: 0o100000,
}

/** Whom everything in a mount belongs to: file systems know no owners. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** What `stat` tells of something in a file system. */
export function attributesOf(stat: Stat, owner: Owner, nlink = 1): InodeAttributes {
  const { type, size, mtime } = stat
  const ms = mtime.getTime()
  const seconds = Math.floor(ms / 1000)
  const time = { seconds, nanos: Math.floor((ms - seconds * 1000) * 1_000_000) }
  return {
    ...owner,
    mode: formats[type] | permissionsOf(stat),
    nlink: type === 'directory' ? nlink + 1 : nlink,
    size,
    blocks: Math.ceil(size / BLOCK_BYTES),
    atime: time,
    mtime: time,
    ctime: time,
    rdev: 0,
  }
}
