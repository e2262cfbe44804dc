import type { StoreHome } from '../store-home.ts'
import { listLandmarks } from '../vault/landmarks.ts'
import { listDeletedVaults, pruneDeletedVaults } from './deleted-vaults.ts'
import { type GcRoots, readOperations, readRoots } from './gc-roots.ts'

/** Removes journals of deleted vaults, and rows from before a moment. Returns the number of removed rows. */
export async function pruneJournals(home: StoreHome, keepHistory: Date | undefined): Promise<number> {
  const before = await home.engine.usage()
  // Read first: a vault forked from such a vault was forked before the deletion, and is among the roots.
  const deleted = await listDeletedVaults(home)
  const roots = await readRoots(home)
  const used = new Set(roots.journals.map(({ vault }) => vault))
  // The journal of a deleted vault stays while a fork inherits from it.
  const unused = deleted.filter(({ id }) => !used.has(id))
  await pruneDeletedVaults(home, unused, roots.heads.length === 0)
  if (keepHistory !== undefined) await pruneOldRows(home, roots, keepHistory.getTime())
  const after = await home.engine.usage()
  return Math.max(0, before.journal.count - after.journal.count)
}

/**
 * Removes journal rows from before a time, and the landmarks that need them. Keeps rows that no page includes:
 * they are the vault itself. Keeps the newest row, so that a process with the vault open finds its number taken.
 */
async function pruneOldRows(home: StoreHome, { heads, journals }: GcRoots, time: number): Promise<void> {
  const flushed = new Map(heads.map(({ id, seq }) => [id, seq]))
  for (const vault of new Set(journals.map((span) => span.vault))) {
    const spans = journals.filter((span) => span.vault === vault)
    const start = Math.min(...spans.map((span) => span.start))
    const seq = flushed.get(vault)
    const end = seq === undefined ? Math.max(...spans.map((span) => span.upTo)) : seq - 1
    const upTo = await findLastRowBefore(home, { vault, start, upTo: end }, time)
    if (upTo <= start) continue
    // A landmark from before the oldest row begins no replay, and would keep its pages.
    const landmarks = await home.reader.run(() => listLandmarks(home.reader, vault))
    const records = landmarks.filter((each) => each.seq < upTo).map(({ key }) => ({ key, bytes: null }))
    await home.engine.commit({ sweep: { journal: [{ vault, upTo }] }, records })
  }
}

/** Returns the number of the last row before a time; the start of the span if there is none. */
async function findLastRowBefore(
  home: StoreHome,
  span: { vault: number; start: number; upTo: number },
  time: number,
): Promise<number> {
  let last = span.start
  for await (const entries of readOperations(home, span)) {
    for (const entry of entries) {
      if (entry.time >= time) return last
      last = entry.seq
    }
  }
  return last
}
