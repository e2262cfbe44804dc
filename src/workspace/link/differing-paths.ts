import { isErrno } from '../../machine/index.ts'
import type { DirectoryTree } from './directory-tree.ts'
import { isSameEntry, type LinkEntry } from './link-entry.ts'
import { findEntry, joinPath, listNames, type TreeFiles } from './tree.ts'

/**
 * Yields the paths of a tree at which a directory differs, also each path below a missing directory, but none that only
 * the directory has. Permissions of directories do not count. Skips what this user may not look up.
 */
export function* findDifferingPaths(
  directory: DirectoryTree,
  tree: TreeFiles,
  path = '/',
): Generator<string> {
  for (const name of listNames(tree, path)) {
    const childPath = joinPath(path, name)
    const entry = findEntry(tree, childPath)
    const hostEntry = findPermittedEntry(directory, childPath)
    if (hostEntry === 'denied') continue
    const isSame =
      entry?.type === 'directory' ? hostEntry?.type === 'directory' : isSameEntry(hostEntry, entry)
    if (!isSame) yield childPath
    if (entry?.type === 'directory') yield* findDifferingPaths(directory, tree, childPath)
  }
}

function findPermittedEntry(directory: DirectoryTree, path: string): LinkEntry | 'denied' | undefined {
  try {
    return directory.findEntry(path)
  } catch (error) {
    if (isErrno(error, 'EACCES')) return 'denied'
    throw error
  }
}
