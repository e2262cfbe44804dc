import type { RecordRow } from '../engine.ts'
import type { FileOperation } from '../files/operation.ts'
import { listIndexRoots } from '../search/index.ts'
import type { StoreHome } from '../store-home.ts'
import { decodeCheckpoint } from '../vault/checkpoints.ts'
import { decodeJournalEntry } from '../vault/journal.ts'
import { decodeHead, getJournalStart, type VaultHead, vaultPrefix } from '../vault/vault-head.ts'
import { type DamageReporter, decodeOrReport } from './damage.ts'

const ROWS_PER_READ = 1000

/** A range of a journal that counts: the rows of a vault, or those a fork inherited from one. */
export interface JournalSpan {
  readonly vault: number
  readonly start: number
  readonly upTo: number
}

/** Everything a home is held by: from here all that is in use can be reached. */
export interface GcRoots {
  readonly heads: readonly VaultHead[]
  /** The numbers of vaults that are there or that one of those grew from: no merge asks for what others once were. */
  readonly vaults: ReadonlySet<number>
  readonly pages: readonly number[]
  /** Those of the pages that are, or can become, the tree of a vault: what they were merged with is in use as well. */
  readonly trees: readonly number[]
  readonly journals: readonly JournalSpan[]
}

/** Reads the records that hold something: vaults, what they grew from, checkpoints, search indexes. */
export async function readRoots(home: StoreHome, report?: DamageReporter): Promise<GcRoots> {
  const { reader } = home
  const [vaults, checkpoints, indexes] = await reader.run(
    () =>
      [
        decodeRecords(reader.listRecords(vaultPrefix), ({ bytes }) => decodeHead(bytes), report),
        decodeRecords(reader.listRecords('checkpoint/'), decodeCheckpoint, report),
        decodeRecords(reader.listRecords('index/'), ({ bytes }) => listIndexRoots(bytes), report).flat(),
      ] as const,
  )
  const trees = [...vaults, ...checkpoints].map(({ root }) => root)
  const grown = vaults.flatMap(({ lineage }) => lineage.map(({ root }) => root))
  return {
    heads: vaults,
    vaults: collectVaultIds(vaults),
    pages: [...trees, ...grown, ...indexes, ...home.session.listHeldItems().roots],
    trees,
    journals: vaults.flatMap(listJournalSpans),
  }
}

/** Vaults that are there, and those they grew from. */
export function collectVaultIds(heads: readonly VaultHead[]): Set<number> {
  return new Set(heads.flatMap(({ id, lineage }) => [id, ...lineage.map((ancestor) => ancestor.id)]))
}

/** Records as what they hold. */
function decodeRecords<T>(
  rows: readonly RecordRow[],
  decode: (row: { readonly key: string; readonly bytes: Uint8Array }) => T,
  report: DamageReporter | undefined,
): T[] {
  return rows.flatMap(({ key, bytes }) => {
    if (bytes === null) return []
    const damage = { kind: 'record', id: 0, places: [key] } as const
    return decodeOrReport(() => decode({ key, bytes }), damage, report)
  })
}

/** The operations of a span of a journal, piece by piece. */
export async function* readOperations(
  { engine }: StoreHome,
  { vault, start, upTo }: JournalSpan,
  report?: DamageReporter,
): AsyncGenerator<{ readonly seq: number; readonly time: number; readonly operation: FileOperation }[]> {
  for (let seq = start; seq < upTo; ) {
    const rows = await engine.readJournal(vault, seq, Math.min(ROWS_PER_READ, upTo - seq))
    // Where old rows were pruned, the next ones come in their place.
    const inside = rows.filter((row) => row.seq <= upTo)
    yield inside.flatMap(({ bytes, seq: id }) => {
      const damage = { kind: 'journal', id, places: [`vault ${vault}`] } as const
      return decodeOrReport(() => ({ ...decodeJournalEntry(bytes), seq: id }), damage, report)
    })
    const last = inside.at(-1)
    if (last === undefined) return
    seq = last.seq
  }
}

function listJournalSpans(head: VaultHead): JournalSpan[] {
  const { id, lineage } = head
  const own = { vault: id, start: getJournalStart(head), upTo: Number.POSITIVE_INFINITY }
  const inherited = lineage.map((ancestor, index) => ({
    vault: ancestor.id,
    start: lineage[index + 1]?.seq ?? 0,
    upTo: ancestor.seq,
  }))
  return [own, ...inherited]
}
