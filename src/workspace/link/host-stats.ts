import { lstatSync, type Stats } from 'node:fs'
import { listAncestors } from './tree.ts'

/** What a disk without hard links says, and a system that lets nobody link the files of others. */
export const NO_HARD_LINK_CODES: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/** What is at a path of this machine, links not followed; undefined if there is nothing, or no directory on the way. */
export function findStats(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

/** Whether a path leads through directories alone. What is behind a link is not in the directory, but anywhere. */
export function isReachedByDirectories(directory: string, path: string): boolean {
  return listAncestors(path).every((above) => findStats(directory + above)?.isDirectory() === true)
}

/** Whether a failure of the system is one of these. */
export function isErrno(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
