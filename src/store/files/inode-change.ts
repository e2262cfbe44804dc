import type { ContentRef, Inode, Time } from '../tree/records.ts'
import type { Files, Moment } from './files.ts'
import type { StoredContent } from './operation.ts'

/** The fields that say that content has changed now. */
export function changed({ time, seq }: Moment): { mtime: Time; ctime: Time; version: number } {
  return { mtime: time, ctime: time, version: seq }
}

/** The version of a file, as something that takes it away replaces it; null for what is no file. */
export function versionOf(files: Files, number: number): number | null {
  const { type, version } = files.inode(number)
  return type === 'file' ? version : null
}

/** Replaces an inode whose content has changed, and keeps count of the bytes. */
export function setContent(files: Files, number: number, before: Inode, after: Inode): void {
  files.setInode(number, after)
  if (before.size === after.size || after.type !== 'file') return
  const counters = files.counters()
  files.setCounters({ ...counters, bytes: counters.bytes + after.size - before.size })
}

/** An inode with other attributes; what is not told stays, but for the time of change. */
export function withAttributes(
  inode: Inode,
  { mode, uid, gid, atime, mtime }: Partial<Pick<Inode, 'mode' | 'uid' | 'gid' | 'atime' | 'mtime'>>,
  time: Time,
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

/** How an inode refers to content: by itself when small, by the blob when there is one, by keys when there are more. */
export function referenceTo({ size, inline, chunks = [] }: StoredContent): ContentRef {
  if (inline !== undefined) return Buffer.from(inline, 'base64')
  const [only] = chunks
  // A file that ends in a hole is longer than its only blob.
  return only !== undefined && chunks.length === 1 && only.size === size ? only : 'chunks'
}
