import { type ContentRef, encodeOwnBytes, type Inode, type Timestamp } from '../tree/tree-values.ts'
import type { StoredContent } from './operation.ts'
import type { Moment, VaultFiles } from './vault-files.ts'

/** Returns the fields that mark content as changed now. */
export function createChangeFields({ time, seq }: Moment): {
  mtime: Timestamp
  ctime: Timestamp
  version: number
} {
  return { mtime: time, ctime: time, version: seq }
}

/** Returns the version of a file that a removal replaces; null for other types. */
export function findFileVersion(files: VaultFiles, number: number): number | null {
  const { type, version } = files.getInode(number)
  return type === 'file' ? version : null
}

/** Replaces an inode with changed content, and updates the byte count. */
export function replaceInode(files: VaultFiles, number: number, before: Inode, after: Inode): void {
  files.setInode(number, after)
  if (before.size === after.size || after.type !== 'file') return
  const counters = files.getCounters()
  files.setCounters({ ...counters, bytes: counters.bytes + after.size - before.size })
}

/** Returns an inode with changed attributes; absent ones stay, except the change time. */
export function withAttributes(
  inode: Inode,
  { mode, uid, gid, atime, mtime }: Partial<Pick<Inode, 'mode' | 'uid' | 'gid' | 'atime' | 'mtime'>>,
  time: Timestamp,
): Inode {
  return {
    ...inode,
    mode: mode ?? inode.mode,
    uid: uid ?? inode.uid,
    gid: gid ?? inode.gid,
    atime: atime ?? inode.atime,
    mtime: mtime ?? inode.mtime,
    ctime: time,
  }
}

/** Converts content to a reference: inline when small, the blob when there is only one, chunk entries otherwise. */
export function toContentRef({ size, inline, chunks = [] }: StoredContent): ContentRef {
  if (inline !== undefined) return encodeOwnBytes(inline, 'base64')
  const [only] = chunks
  // A file that ends in a hole is longer than its only blob.
  return only !== undefined && chunks.length === 1 && only.size === size ? only : 'chunks'
}
