import type { ObjectReader } from '../object-reader.ts'
import { readCommit } from '../open-git.ts'

/** Commits in one read. */
const COMMITS_PER_BATCH = 1000

/** Lists the commits that lead to a tip and are not known yet, each after its parents. */
export async function listCommitsTo(
  reader: ObjectReader,
  tip: string,
  known: ReadonlySet<string>,
  signal?: AbortSignal,
): Promise<string[]> {
  const parents = await readParents(reader, tip, known, signal)
  const ordered: string[] = []
  const done = new Set<string>()
  const path = [{ id: tip, next: 0 }]
  for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
    const above = parents.get(at.id)
    const parent = above?.[at.next++]
    if (parent !== undefined && parents.has(parent) && !done.has(parent)) path.push({ id: parent, next: 0 })
    if (parent !== undefined) continue
    path.pop()
    if (above !== undefined && !done.has(at.id)) ordered.push(at.id)
    done.add(at.id)
  }
  return ordered
}

async function readParents(
  reader: ObjectReader,
  tip: string,
  known: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): Promise<Map<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>()
  const waiting = new Set(known.has(tip) ? [] : [tip])
  while (waiting.size > 0) {
    signal?.throwIfAborted()
    const ids = [...waiting.values().take(COMMITS_PER_BATCH)]
    for (const commit of await Promise.all(ids.map((id) => readCommit(reader, id)))) {
      waiting.delete(commit.id)
      found.set(commit.id, commit.parents)
      for (const parent of commit.parents) if (!found.has(parent) && !known.has(parent)) waiting.add(parent)
    }
  }
  return found
}
