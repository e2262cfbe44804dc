import { isSameEntry } from './entry.ts'
import type { HostTree } from './host-tree.ts'
import { childOf, namesIn, type TreeFiles, treeEntry } from './tree.ts'

/** The paths of a tree at which a directory has something else, or nothing. Permissions of directories do not count. */
export function* differingPaths(directory: HostTree, tree: TreeFiles, path = '/'): Generator<string> {
  for (const name of namesIn(tree, path)) {
    const below = childOf(path, name)
    const entry = treeEntry(tree, below)
    const there = directory.entry(below)
    const isSame = entry?.type === 'directory' ? there?.type === 'directory' : isSameEntry(there, entry)
    if (!isSame) yield below
    if (entry?.type === 'directory') yield* differingPaths(directory, tree, below)
  }
}
