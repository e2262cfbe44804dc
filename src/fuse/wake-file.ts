import { randomBytes } from 'node:crypto'
import type { InodeAttributes } from './inode-fs.ts'

/** No file of a vault has this number. */
export const WAKE_NODE: number = Number.MAX_SAFE_INTEGER

const EPOCH = { seconds: 0, nanos: 0 }

/**
 * A file that is in no listing. The kernel only takes a notice that makes it send a request for a regular file it knows:
 * this one it knows from the start, by a name nobody else does.
 */
export const wakeAttributes: InodeAttributes = {
  mode: 0o100000,
  nlink: 1,
  uid: 0,
  gid: 0,
  size: 0,
  blocks: 0,
  atime: EPOCH,
  mtime: EPOCH,
  ctime: EPOCH,
  rdev: 0,
}

export function createWakeName(): string {
  return `.coppice-${randomBytes(8).toString('hex')}`
}
