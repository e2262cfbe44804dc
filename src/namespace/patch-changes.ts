import { formatPatch, listFileChanges, readChangedText, type TreePair } from '../diff/index.ts'
import type { PathChange } from '../vfs/index.ts'
import { shortenChanges } from './short-changes.ts'

/**
 * Yields the patch of each changed file, after a line for each large directory and for what git changed by itself.
 * Paths are those of the project.
 */
export async function* patchChanges(
  changes: AsyncIterable<PathChange>,
  trees: TreePair,
): AsyncGenerator<string> {
  const short = await shortenChanges(await Array.fromAsync(changes), trees)
  for (const { kind, path, files } of short.directories ?? []) yield `${kind} ${path}/ (${files} files)\n`
  if (short.git !== undefined) yield `git: ${short.git}\n`
  for await (const change of listFileChanges(short.changes, trees, {})) {
    const lines = formatPatch(await readChangedText(change, trees, {}))
    yield `${lines.join('\n')}\n`
  }
}
