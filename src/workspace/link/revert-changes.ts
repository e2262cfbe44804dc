import type { SessionChange } from '../session/index.ts'
import { TouchedPaths } from './touched-paths.ts'
import { findEntry, joinPath, listNames, putEntry, removeEntry, type TreeFiles } from './tree.ts'
import { performWork, type TreeWork } from './tree-work.ts'

/**
 * Resets a tree to the session's base at paths that the session changed earlier and no longer changes. One command
 * may remove what another created. O(changes).
 */
export async function revertChanges(
  tree: TreeFiles,
  base: TreeFiles,
  earlier: readonly SessionChange[],
  changes: readonly SessionChange[],
): Promise<void> {
  const { reverted } = new TouchedPaths(
    changes,
    earlier.map(({ path }) => path),
  )
  await performWork(
    tree,
    reverted.flatMap((path) => [...createRevertWork(base, path)]),
  )
}

function* createRevertWork(base: TreeFiles, path: string): Generator<TreeWork> {
  const entry = findEntry(base, path)
  if (entry === undefined) yield { bytes: 0, run: (tree) => removeEntry(tree, path) }
  else yield { bytes: entry.size, run: (tree) => putEntry(tree, path, entry) }
  for (const name of listNames(base, path)) yield* createRevertWork(base, joinPath(path, name))
}
