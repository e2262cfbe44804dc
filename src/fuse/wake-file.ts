import { randomBytes } from 'node:crypto'
import type { InodeAttributes } from './inode-fs.ts'

/** Inode number that no file of a vault has. */
export const WAKE_NODE: number = Number.MAX_SAFE_INTEGER

const EPOCH = { seconds: 0, nanos: 0 }

/**
 * Attributes of the wake file, which is in no listing. The kernel accepts a retrieve notice only for a regular file that it
 * knows. It knows this one from the start, by a secret name.
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
