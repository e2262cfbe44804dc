import { lstatSync, type Stats } from 'node:fs'
import { listAncestors } from './tree.ts'

/** Codes of disks without hard links, and of systems that forbid links to files of other users. */
export const NO_HARD_LINK_CODES: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/** Returns the stats of a path of this machine, without following links; undefined if nothing is there. */
export function findStats(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

/** True if a path leads through directories only. A link may lead outside. */
export function isReachedByDirectories(directory: string, path: string): boolean {
  return listAncestors(path).every((above) => findStats(directory + above)?.isDirectory() === true)
}
