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
  const changes: TreeChange[] = []
  const visit = (path: string) => {
    const names = new Set([...namesIn(before, path), ...namesIn(after, path)])
    for (const name of [...names].sort()) {
      const below = childOf(path, name)
      const [old, now] = [treeEntry(before, below), treeEntry(after, below)]
      if (!isSameEntry(old, now)) changes.push({ path: below, before: old, after: now })
      if (old?.type === 'directory' || now?.type === 'directory') visit(below)
    }
  }
  visit('/')
  return changes
}

/** The work that makes another tree what the changed one is at a path. */
export function changeWork({ path, after }: TreeChange): TreeWork {
  return {
    bytes: after?.size ?? 0,
    run: (tree) => (after === undefined ? removeEntry(tree, path) : putEntry(tree, path, after)),
  }
}
