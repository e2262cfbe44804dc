import { isSameEntry, type LinkEntry } from './link-entry.ts'
import { findEntry, joinPath, listNames, putEntry, removeEntry, type TreeFiles } from './tree.ts'
import type { TreeWork } from './tree-work.ts'

/** A path that differs between two trees. A directory comes before its entries. */
export interface TreeChange {
  readonly path: string
  readonly before: LinkEntry | undefined
  readonly after: LinkEntry | undefined
}

/** Returns all differences between two trees, sorted within each directory. The root itself does not count. */
export function compareTrees(before: TreeFiles, after: TreeFiles): TreeChange[] {
  return Array.from(walkPaths(before, after)).filter((path) => !isSameEntry(path.before, path.after))
}

/** True if two trees have the same visible content. Stops at the first difference. */
export function isSameTree(before: TreeFiles, after: TreeFiles): boolean {
  for (const path of walkPaths(before, after)) if (!isSameEntry(path.before, path.after)) return false
  return true
}

/** Returns directories whose permissions differ: a diff of vaults does not include them. */
export function findChangedDirectories(before: TreeFiles, after: TreeFiles): TreeChange[] {
  return Array.from(walkPaths(before, after)).filter(
    ({ before: old, after: current }) =>
      old?.type === 'directory' && current?.type === 'directory' && !isSameEntry(old, current),
  )
}

/** Walks every path of two trees, with the entry of each. */
function* walkPaths(before: TreeFiles, after: TreeFiles, path = '/'): Generator<TreeChange> {
  const names = new Set([...listNames(before, path), ...listNames(after, path)])
  for (const name of [...names].sort()) {
    const childPath = joinPath(path, name)
    const [old, current] = [findEntry(before, childPath), findEntry(after, childPath)]
    yield { path: childPath, before: old, after: current }
    if (old?.type === 'directory' || current?.type === 'directory') yield* walkPaths(before, after, childPath)
  }
}

/** Returns the work that makes another tree equal to the changed one at a path. */
export function createChangeWork({ path, after }: TreeChange): TreeWork {
  return {
    bytes: after?.size ?? 0,
    run: (tree) => (after === undefined ? removeEntry(tree, path) : putEntry(tree, path, after)),
  }
}
