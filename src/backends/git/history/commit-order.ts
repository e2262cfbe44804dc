import type { ObjectReader } from '../object-reader.ts'
import { readCommit } from '../open-git.ts'

/** Commits in one read. */
const COMMITS_PER_BATCH = 1000

/** Lists the commits that lead to a tip and are not imported yet, each after its parents. */
export async function listCommitsTo(
  reader: ObjectReader,
  tip: string,
  imported: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<string[]> {
  const parents = await readParents(reader, tip, imported, signal)
  const ordered: string[] = []
  const done = new Set<string>()
  const stack = [{ id: tip, next: 0 }]
  for (let commit = stack.at(-1); commit !== undefined; commit = stack.at(-1)) {
    const above = parents.get(commit.id)
    const parent = above?.[commit.next++]
    if (parent !== undefined && parents.has(parent) && !done.has(parent)) stack.push({ id: parent, next: 0 })
    if (parent !== undefined) continue
    stack.pop()
    if (above !== undefined && !done.has(commit.id)) ordered.push(commit.id)
    done.add(commit.id)
  }
  return ordered
}

async function readParents(
  reader: ObjectReader,
  tip: string,
  imported: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): Promise<Map<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>()
  const waiting = new Set(imported.has(tip) ? [] : [tip])
  while (waiting.size > 0) {
    signal?.throwIfAborted()
    const ids = [...waiting.values().take(COMMITS_PER_BATCH)]
    for (const commit of await Promise.all(ids.map((id) => readCommit(reader, id)))) {
      waiting.delete(commit.id)
      found.set(commit.id, commit.parents)
      for (const parent of commit.parents)
        if (!found.has(parent) && !imported.has(parent)) waiting.add(parent)
    }
  }
  return found
}
