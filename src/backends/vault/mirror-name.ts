import { createHash } from 'node:crypto'
import { VfsError } from '../../vfs/index.ts'

/** How `coppice exec` names the vaults in which it keeps what a directory had at the paths that a fork of it changed. */
const MIRROR_NAME = /^link-[0-9a-f]{12}-[0-9a-f]{8}(?:-undo)?$/

/** Whether a vault mirrors a directory of this machine for a fork of that directory. */
export function isMirrorName(vault: string): boolean {
  return MIRROR_NAME.test(vault)
}

/** Whether a vault mirrors this directory, by its real path. */
export function isMirrorFor(vault: string, directory: string): boolean {
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 12)
  return isMirrorName(vault) && vault.startsWith(`link-${hash}-`)
}

/**
 * Refuses a merge into the mirror of a directory: the fork would have no changes left to apply, and the directory none
 * of them. EINVAL.
 */
export function assertMergeTarget(source: string, target: string): void {
  if (!isMirrorName(target)) return
  const detail = `'${source}' is a fork of a directory, and merge does not write to directories; use coppice apply ${source}`
  throw new VfsError('EINVAL', source, { op: 'merge', detail })
}
