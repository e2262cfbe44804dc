import type { Inode, Time } from '../tree/records.ts'
import type { Files, Moment } from './files.ts'

/** The fields that say that content has changed now. */
export function changed({ time, seq }: Moment): { mtime: Time; ctime: Time; version: number } {
  return { mtime: time, ctime: time, version: seq }
}

/** Replaces an inode whose content has changed, and keeps count of the bytes. */
export function setContent(files: Files, number: number, before: Inode, after: Inode): void {
  files.setInode(number, after)
  if (before.size === after.size || after.type !== 'file') return
  const counters = files.counters()
  files.setCounters({ ...counters, bytes: counters.bytes + after.size - before.size })
}
