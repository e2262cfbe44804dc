import type { StoreHome } from '../home.ts'
import { operationsIn, type Roots, rootsOf } from './roots.ts'

/** Removes journals nobody has a use for, and rows from before a moment. Returns how many rows went. */
export async function pruneJournals(home: StoreHome, keepHistory: Date | undefined): Promise<number> {
  const roots = await rootsOf(home)
  const before = await home.engine.usage()
  await dropOrphans(home, roots)
  if (keepHistory !== undefined) await dropOld(home, roots, keepHistory.getTime())
  const after = await home.engine.usage()
  return Math.max(0, before.journal.count - after.journal.count)
}

/** The journal of a deleted vault stays while a fork has history in it. */
async function dropOrphans({ reader, engine }: StoreHome, { journals }: Roots): Promise<void> {
  const used = new Set(journals.map(({ vault }) => vault))
  const deleted = await reader.resolve(() => reader.records('deleted/'))
  for (const { key } of deleted) {
    const vault = Number(key.slice('deleted/'.length))
    if (used.has(vault)) continue
    const sweep = { journal: [{ vault, upTo: Number.MAX_SAFE_INTEGER }] }
    await engine.commit({ sweep, records: [{ key, bytes: null }] })
  }
}

/** Only rows that are folded into pages: the others are the vault itself. */
async function dropOld(home: StoreHome, { heads, journals }: Roots, time: number): Promise<void> {
  const folded = new Map(heads.map(({ id, seq }) => [id, seq]))
  for (const vault of new Set(journals.map((span) => span.vault))) {
    const spans = journals.filter((span) => span.vault === vault)
    const start = Math.min(...spans.map((span) => span.start))
    const end = folded.get(vault) ?? Math.max(...spans.map((span) => span.upTo))
    const upTo = await lastBefore(home, { vault, start, upTo: end }, time)
    if (upTo > start) await home.engine.commit({ sweep: { journal: [{ vault, upTo }] } })
  }
}

async function lastBefore(
  home: StoreHome,
  span: { vault: number; start: number; upTo: number },
  time: number,
): Promise<number> {
  let last = span.start
  for await (const entries of operationsIn(home, span)) {
    for (const entry of entries) {
      if (entry.time >= time) return last
      last = entry.seq
    }
  }
  return last
}
