import type { HostTree } from './host-tree.ts'
import { isSameEntry } from './link-entry.ts'
import { findEntry, joinPath, listNames, type TreeFiles } from './tree.ts'

/** Yields the paths of a tree at which a directory differs. Permissions of directories do not count. */
export function* findDifferingPaths(directory: HostTree, tree: TreeFiles, path = '/'): Generator<string> {
  for (const name of listNames(tree, path)) {
    const childPath = joinPath(path, name)
    const entry = findEntry(tree, childPath)
    const hostEntry = directory.findEntry(childPath)
    const isSame =
      entry?.type === 'directory' ? hostEntry?.type === 'directory' : isSameEntry(hostEntry, entry)
    if (!isSame) yield childPath
    if (entry?.type === 'directory') yield* findDifferingPaths(directory, tree, childPath)
  }
}
