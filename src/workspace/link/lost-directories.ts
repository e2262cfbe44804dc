import type { TreeChange } from './compare-trees.ts'
import { findStats, isReachedByDirectories } from './host-stats.ts'
import { findEntry, listAncestors, type TreeFiles } from './tree.ts'

/**
 * Returns changes that recreate the parent directories of a fork's changes which the linked directory no longer has.
 * A user removed one, or replaced it by a link. O(changes).
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
