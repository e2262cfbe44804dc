import { lchownSync, lstatSync } from 'node:fs'

/** Owner of a file. */
export interface FileOwner {
  readonly uid: number
  readonly gid: number
}

/**
 * Changes the owner of a file as far as this user may: root to any owner, other users to one of their own groups.
 * Set permissions afterwards: a change of owner clears some of them.
 */
export function chownIfPermitted(path: string, { uid, gid }: FileOwner): void {
  if (process.getuid?.() === 0) lchownSync(path, uid, gid)
  else if (isOwnGroup(gid) && lstatSync(path).gid !== gid) lchownSync(path, -1, gid)
}

/**
 * Returns the part of a wanted owner that this user may give a file, for `chown`: -1 stands for the user that it has.
 * Undefined if there is nothing to change, or nothing that this user may.
 */
export function findOwnerChange(current: FileOwner, { uid, gid }: FileOwner): FileOwner | undefined {
  if (process.getuid?.() === 0) return current.uid === uid && current.gid === gid ? undefined : { uid, gid }
  return current.gid !== gid && isOwnGroup(gid) ? { uid: -1, gid } : undefined
}

/** True if this user belongs to a group. */
export function isOwnGroup(gid: number): boolean {
  return gid === process.getegid?.() || process.getgroups?.().includes(gid) === true
}
