import { lchownSync, lstatSync } from 'node:fs'

/** Owner of a file. */
export interface FileOwner {
  readonly uid: number
  readonly gid: number
}

/**
 * Gives something to its owner, as far as this user may: only the superuser to others, anybody to a group of their own.
 * Permissions are to be set after it, since it takes some of them away.
 */
export function chownIfPermitted(path: string, { uid, gid }: FileOwner): void {
  if (process.getuid?.() === 0) lchownSync(path, uid, gid)
  else if (isOwnGroup(gid) && lstatSync(path).gid !== gid) lchownSync(path, -1, gid)
}

function isOwnGroup(gid: number): boolean {
  return gid === process.getegid?.() || process.getgroups?.().includes(gid) === true
}
