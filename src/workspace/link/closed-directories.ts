import { accessSync, type BigIntStats, chmodSync, constants } from 'node:fs'
import { isErrno, isOwnGroup } from '../../machine/index.ts'
import type { HostDentry, HostTree } from './host-tree.ts'
import { PERMISSION_BITS } from './link-entry.ts'

/** Write and search permission of the owner. */
export const OWNER_CHANGE_BITS = 0o300
const SETGID_BIT = 0o2000
const { W_OK, X_OK } = constants

/**
 * Maps the directories that this user owns and may not change to their modes. Their owner may open them for a while.
 * Leaves out those that could not get their mode back, and everything that is no directory.
 */
export function findClosedDirectories(tree: HostTree, paths: readonly string[]): Map<string, number> {
  const closed = new Map<string, number>()
  tree.visitTogether(() => {
    for (const path of paths) {
      const stats = tree.findStats(path)
      if (stats?.isDirectory() !== true || !isOwnClosed(stats) || canChange(tree, path)) continue
      closed.set(path, Number(stats.mode) & PERMISSION_BITS)
    }
  })
  return closed
}

/**
 * Runs a step that adds or removes an entry of the root. If this user owns the root and may not change it, opens it for
 * that step. A process killed in between leaves the root open to its owner.
 */
export function withOpenRoot(tree: HostTree, step: () => void): void {
  try {
    step()
  } catch (error) {
    if (!isErrno(error, 'EACCES')) throw error
    const mode = findClosedDirectories(tree, ['/']).get('/')
    if (mode === undefined) throw error
    setRootMode(tree, mode | OWNER_CHANGE_BITS)
    try {
      step()
    } finally {
      setRootMode(tree, mode)
    }
  }
}

function setRootMode(tree: HostTree, mode: number): void {
  tree.root.withPinnedPath('.', (pin) => chmodSync(pin, mode))
}

/** True if this user owns a directory, may not change its entries, and may change its mode without losing bits of it. */
function isOwnClosed(stats: BigIntStats): boolean {
  const mode = Number(stats.mode)
  const isClosed = (mode & OWNER_CHANGE_BITS) !== OWNER_CHANGE_BITS
  // The system clears this bit when a user outside of the group changes the mode.
  const keepsBits = (mode & SETGID_BIT) === 0 || isOwnGroup(Number(stats.gid))
  return isClosed && keepsBits && Number(stats.uid) === process.geteuid?.()
}

/** True if this user may change a directory whatever its mode, as root may. */
function canChange(tree: HostTree, path: string): boolean {
  const check = ({ directory, name }: HostDentry) =>
    directory.withPinnedPath(name, (pin) => accessSync(pin, W_OK | X_OK))
  try {
    tree.withDentry(path, check)
    return true
  } catch (error) {
    if (!isErrno(error, 'EACCES')) throw error
    return false
  }
}
