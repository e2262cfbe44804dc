import type { SessionChange } from '../session/index.ts'
import { Touched } from './touched.ts'
import { childOf, namesIn, putEntry, removeEntry, type TreeFiles, treeEntry } from './tree.ts'
import { performWork, type TreeWork } from './tree-work.ts'

/**
 * Makes a tree again what the base of a session is, wherever the session had changed it and no longer does: what one
 * command made, another may remove. O(changes).
 */
export async function takeBack(
  tree: TreeFiles,
  base: TreeFiles,
  earlier: readonly SessionChange[],
  changes: readonly SessionChange[],
): Promise<void> {
  const { takenBack } = new Touched(
    changes,
    earlier.map(({ path }) => path),
  )
  await performWork(
    tree,
    takenBack.flatMap((path) => [...workFor(base, path)]),
  )
}

function* workFor(base: TreeFiles, path: string): Generator<TreeWork> {
  const entry = treeEntry(base, path)
  if (entry === undefined) yield { bytes: 0, run: (tree) => removeEntry(tree, path) }
  else yield { bytes: entry.size, run: (tree) => putEntry(tree, path, entry) }
  for (const name of namesIn(base, path)) yield* workFor(base, childOf(path, name))
}
