import { ForkLayers, type LayerTrees } from './fork-layers.ts'
import type { HostTree } from './host-tree.ts'
import { isSameEntry } from './link-entry.ts'
import { createMirrorWork, type MirroredPath, readMirroredPaths } from './mirror.ts'
import type { TouchedPath } from './touched-paths.ts'
import { findEntry, listAncestors } from './tree.ts'
import { performWork, type TreeWork } from './tree-work.ts'

/**
 * Copies the entries of the directory at these paths into both vaults of a fork, before they change there. The
 * directory as it is now becomes their base. Paths that the fork has changed stay as they are. O(paths), and everything
 * below a covered one.
 */
export async function copyUp(
  trees: LayerTrees,
  directory: HostTree,
  touched: readonly TouchedPath[],
): Promise<void> {
  const layers = new ForkLayers(trees)
  const visible = touched.filter(({ path }) => [...listAncestors(path), path].every(isVisible))
  const paths = readMirroredPaths(directory, visible, readClock())
  const work = [...paths.values()].filter(isMissing).map(createMirrorWork)
  await performAll(trees, work)

  /** Nothing of the directory is visible below a path that the fork removed or replaced. */
  function isVisible(path: string): boolean {
    const found = layers.find(path)
    return found.source === 'directory' || found.showsDirectory
  }

  function isMissing({ path, entry }: MirroredPath): boolean {
    const found = layers.find(path)
    if (found.source !== 'directory') return false
    // A directory that the user removed or replaced stays the base of changes inside it: `apply` reports it.
    if (entry?.type !== 'directory' && layers.hasChangesBelow(found)) return false
    return !(
      isSameEntry(entry, findEntry(trees.before, path)) && isSameEntry(entry, findEntry(trees.after, path))
    )
  }
}

/**
 * Performs work in both vaults. In this order an interruption is safe. In the other, the fork would seem to revert what
 * is new.
 */
async function performAll({ before, after }: LayerTrees, work: readonly TreeWork[]): Promise<void> {
  await performWork(after, work)
  await performWork(before, work)
}

/** Returns a time just after now: the caller sees the directory as it is, so no entry counts as changed since. */
function readClock(): bigint {
  return BigInt(Date.now() + 1) * 1_000_000n
}
