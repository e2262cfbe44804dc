import type { PathChange, Stat } from '../../vfs/index.ts'
import { findChangedDirectories, type TreeChange } from './compare-trees.ts'
import type { LayerTrees } from './fork-layers.ts'
import type { LinkEntry } from './link-entry.ts'
import type { LinkVault } from './link-home.ts'

/**
 * Yields the changes of a fork since another vault, sorted by path. Unlike the diff of a vault, it has the changed
 * permissions of directories.
 *
 * @param trees the files of both vaults.
 */
export async function* diffFork(
  fork: LinkVault,
  since: string,
  { before, after }: LayerTrees,
): AsyncGenerator<PathChange> {
  const directories = findChangedDirectories(before, after).map(toDirectoryChange)
  for await (const change of fork.diff({ vault: since })) {
    while (directories[0] !== undefined && directories[0].path < change.path) yield* directories.splice(0, 1)
    if (change.path !== '/') yield change
  }
  yield* directories
}

function toDirectoryChange({ path, before, after }: TreeChange): PathChange {
  return {
    kind: 'modified',
    path,
    ...(before !== undefined && { before: toStat(before) }),
    ...(after !== undefined && { after: toStat(after) }),
  }
}

function toStat({ type, size, mtime, mode }: LinkEntry): Stat {
  return { type, size, mode, mtime: new Date(mtime.seconds * 1000 + mtime.nanos / 1e6) }
}
