import { computeShortDigest } from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'

/**
 * The names of mirror vaults. `coppice exec` keeps in them the original content of a directory at the paths that a fork
 * changed.
 */
const MIRROR_NAME =
  /^link-[0-9a-f]{12}-[0-9a-f]{8}(?:-(?:undo|merged)(?:-next)?|-(?:before|after)-merge(?:-fork)?)?$/

/** Reports whether a vault mirrors a directory of this machine for a fork of that directory. */
export function isMirrorName(vault: string): boolean {
  return MIRROR_NAME.test(vault)
}

/** Reports whether a vault mirrors this directory, given by its real path. */
export function isMirrorFor(vault: string, directory: string): boolean {
  return isMirrorName(vault) && vault.startsWith(`link-${computeShortDigest(directory).slice(0, 12)}-`)
}

/**
 * Throws EINVAL for a merge into the mirror of a directory: the fork would lose its changes before they are applied to
 * the directory.
 */
export function assertMergeTarget(source: string, target: string): void {
  if (!isMirrorName(target)) return
  const detail = `'${source}' is a fork of a directory, and merge does not write to directories; use coppice apply ${source}`
  throw new VfsError('EINVAL', source, { op: 'merge', detail })
}
