import { type Entry, isSameEntry } from './entry.ts'
import { childOf, namesIn, putEntry, removeEntry, type TreeFiles, treeEntry } from './tree.ts'
import type { TreeWork } from './tree-work.ts'

/** One path that differs between two trees; a directory comes before what is in it. */
export interface TreeChange {
  readonly path: string
  readonly before: Entry | undefined
  readonly after: Entry | undefined
}

/** Everything that differs between two trees, sorted within each directory. The root itself does not count. */
export function compareTrees(before: TreeFiles, after: TreeFiles): TreeChange[] {
  return Array.from(pathsOf(before, after)).filter((path) => !isSameEntry(path.before, path.after))
}

/** Whether two trees are the same to whoever looks at both. Reads no further than the first difference. */
export function isSameTree(before: TreeFiles, after: TreeFiles): boolean {
  for (const path of pathsOf(before, after)) if (!isSameEntry(path.before, path.after)) return false
  return true
}

/** The directories that both trees have, with other permissions: a diff of vaults does not tell of them. */
export function changedDirectories(before: TreeFiles, after: TreeFiles): TreeChange[] {
  return Array.from(pathsOf(before, after)).filter(
    ({ before: old, after: now }) =>
      old?.type === 'directory' && now?.type === 'directory' && !isSameEntry(old, now),
  )
}

/** Every path of two trees, with what each has there. */
function* pathsOf(before: TreeFiles, after: TreeFiles, path = '/'): Generator<TreeChange> {
  const names = new Set([...namesIn(before, path), ...namesIn(after, path)])
  for (const name of [...names].sort()) {
    const below = childOf(path, name)
    const [old, now] = [treeEntry(before, below), treeEntry(after, below)]
    yield { path: below, before: old, after: now }
    if (old?.type === 'directory' || now?.type === 'directory') yield* pathsOf(before, after, below)
  }
}

/** The work that makes another tree what the changed one is at a path. */
export function changeWork({ path, after }: TreeChange): TreeWork {
  return {
    bytes: after?.size ?? 0,
    run: (tree) => (after === undefined ? removeEntry(tree, path) : putEntry(tree, path, after)),
  }
}
