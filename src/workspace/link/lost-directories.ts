import type { TreeChange } from './compare-trees.ts'
import { findStats, isReachedByDirectories } from './host-stats.ts'
import { findEntry, listAncestors, type TreeFiles } from './tree.ts'

/**
 * The directories that changes of a fork are in and that the linked directory no longer has, as changes that make them:
 * somebody removed one, or put a link in its place. The fork still has them. O(changes).
 */
export function findLostDirectories(
  directory: string,
  fork: TreeFiles,
  changes: readonly TreeChange[],
): TreeChange[] {
  const changed = new Set(changes.map(({ path }) => path))
  const kept = changes.filter(({ after }) => after !== undefined)
  const above = new Set(kept.flatMap(({ path }) => listAncestors(path)))
  return [...above]
    .filter((path) => !changed.has(path) && !isDirectory(directory, path))
    .map((path) => ({ path, before: undefined, after: findEntry(fork, path) }))
}

function isDirectory(directory: string, path: string): boolean {
  return isReachedByDirectories(directory, path) && findStats(directory + path)?.isDirectory() === true
}
