import type { FileType } from '../../vfs/index.ts'
import type { FileOperation } from '../files/operation.ts'
import { countLinks, toInlineText } from '../files/vault-files.ts'
import type { Inode, Timestamp } from '../tree/tree-values.ts'

export const BLOCK_BYTES = 512
const PERMISSION_BITS = 0o7777
const SET_GROUP_ID = 0o2000

/** Bits of a mode that have the file type. */
export const fileTypeBits = {
  mask: 0o170000,
  file: 0o100000,
  directory: 0o040000,
  symlink: 0o120000,
  fifo: 0o010000,
  socket: 0o140000,
  character: 0o020000,
  block: 0o060000,
} as const

/** Result of `stat`. `mode` includes the file type, as in C. */
export interface PosixAttributes {
  readonly ino: number
  readonly type: FileType
  readonly mode: number
  /** Of a directory 2 and its subdirectories, or 1 if they were never counted; 0 for an inode without a name. */
  readonly nlink: number
  readonly uid: number
  readonly gid: number
  readonly size: number
  /** Allocated space in units of 512 bytes; holes take none. */
  readonly blocks: number
  readonly atime: Timestamp
  readonly mtime: Timestamp
  readonly ctime: Timestamp
  readonly rdev: number
}

/** Owner and permissions of a new inode. */
export interface CreationAttributes {
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

/** Attributes that `setattr` can change; `'now'` is the time of the call. */
export interface PosixAttributeChanges {
  readonly mode?: number
  readonly uid?: number
  readonly gid?: number
  readonly size?: number
  readonly atime?: Timestamp | 'now'
  readonly mtime?: Timestamp | 'now'
}

/** Result of `statfs`, in blocks of `blockSize` bytes. */
export interface StatfsReport {
  readonly blockSize: number
  readonly blocks: number
  readonly freeBlocks: number
  readonly files: number
  readonly freeFiles: number
  readonly nameBytes: number
}

/** A user and a group. */
export interface UserIds {
  readonly uid: number
  readonly gid: number
}

/** Converts an inode to the result of `stat`. An inode without an owner gets the default one. */
export function toPosixAttributes(
  { ino, blocks }: Pick<PosixAttributes, 'ino' | 'blocks'>,
  inode: Inode,
  defaultOwner: UserIds,
): PosixAttributes {
  const { type, mode, atime, mtime, ctime } = inode
  const size = type === 'directory' ? 0 : inode.size
  const nlink = countLinks(inode)
  const uid = inode.uid || defaultOwner.uid
  const gid = inode.gid || defaultOwner.gid
  const format = type === 'other' ? mode & fileTypeBits.mask : fileTypeBits[type]
  const rdev = type === 'other' ? Number(toInlineText(inode.content)) : 0
  const typedMode = format | (mode & PERMISSION_BITS)
  return { ino, type, mode: typedMode, nlink, uid, gid, size, blocks, atime, mtime, ctime, rdev }
}

/** Applies the set-group-id bit of a directory: a new entry gets its group, and a new directory the bit, too. */
export function applySetGroupId(
  directory: Inode,
  { mode, uid, gid }: CreationAttributes,
  type: FileType,
): CreationAttributes {
  if ((directory.mode & SET_GROUP_ID) === 0) return { mode, uid, gid }
  return { mode: type === 'directory' ? mode | SET_GROUP_ID : mode, uid, gid: directory.gid }
}

/** Plans a change of attributes except the size. Absent ones stay, except the change time. */
export function planAttributes(
  { mode: oldMode }: Inode,
  target: { readonly path: string; readonly inode: number },
  { mode, uid, gid, atime, mtime }: PosixAttributeChanges,
  now: Timestamp,
): FileOperation {
  return {
    op: 'attributes',
    ...target,
    ...(mode !== undefined && { mode: (oldMode & ~PERMISSION_BITS) | (mode & PERMISSION_BITS) }),
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
    ...(atime !== undefined && { atime: atime === 'now' ? now : atime }),
    ...(mtime !== undefined && { mtime: mtime === 'now' ? now : mtime }),
  }
}
