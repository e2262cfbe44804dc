import type { RecordRow } from '../engine.ts'
import type { FileOperation } from '../files/operation.ts'
import { listIndexRoots } from '../search/index.ts'
import type { StoreHome } from '../store-home.ts'
import { decodeCheckpoint } from '../vault/checkpoints.ts'
import { decodeJournalEntry } from '../vault/journal.ts'
import { decodeLandmark, landmarkPrefix } from '../vault/landmarks.ts'
import { decodeHead, getJournalStart, type VaultHead, vaultPrefix } from '../vault/vault-head.ts'
import { type DamageReporter, decodeOrReport } from './damage.ts'

const ROWS_PER_READ = 1000

/** A range of journal rows in use: of a vault, or inherited by a fork. */
export interface JournalSpan {
  readonly vault: number
  /** Number of the row before the first one. */
  readonly start: number
  /** Number of the last row. */
  readonly upTo: number
}

/** The roots of a home: everything in use is reachable from them. */
export interface GcRoots {
  readonly heads: readonly VaultHead[]
  /** Numbers of existing vaults and their ancestors. A merge point with another vault is not needed any more. */
  readonly vaults: ReadonlySet<number>
  /** Root pages of all trees in use. */
  readonly pages: readonly number[]
  /** Pages that are, or can become, the tree of a vault: their merge points are in use as well. */
  readonly trees: readonly number[]
  readonly journals: readonly JournalSpan[]
}

/**
 * Reads the records that refer to trees: vaults, their ancestors, checkpoints, landmarks, search indexes. Adds the
 * trees that this session holds. Throws EIO for a damaged record, unless there is a reporter.
 */
export async function readRoots(home: StoreHome, report?: DamageReporter): Promise<GcRoots> {
  const { reader } = home
  const [vaults, checkpoints, landmarks, indexes] = await reader.run(
    () =>
      [
        decodeRecords(reader.listRecords(vaultPrefix), ({ bytes }) => decodeHead(bytes), report),
        decodeRecords(reader.listRecords('checkpoint/'), decodeCheckpoint, report),
        decodeRecords(reader.listRecords(landmarkPrefix), decodeLandmark, report),
        decodeRecords(reader.listRecords('index/'), ({ bytes }) => listIndexRoots(bytes), report).flat(),
      ] as const,
  )
  const trees = [...vaults, ...checkpoints, ...landmarks].map(({ root }) => root)
  const forkPoints = vaults.flatMap(({ lineage }) => lineage.map(({ root }) => root))
  return {
    heads: vaults,
    vaults: collectVaultIds(vaults),
    pages: [...trees, ...forkPoints, ...indexes, ...home.session.listHeldItems().roots],
    trees,
    journals: vaults.flatMap(listJournalSpans),
  }
}

/** Returns the ids of vaults and their ancestors. */
export function collectVaultIds(heads: readonly VaultHead[]): Set<number> {
  return new Set(heads.flatMap(({ id, lineage }) => [id, ...lineage.map((ancestor) => ancestor.id)]))
}

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

/** Yields the operations of a journal span in batches. Throws EIO for a damaged row, unless there is a reporter. */
export async function* readOperations(
  { engine }: StoreHome,
  { vault, start, upTo }: JournalSpan,
  report?: DamageReporter,
): AsyncGenerator<{ readonly seq: number; readonly time: number; readonly operation: FileOperation }[]> {
  for (let seq = start; seq < upTo; ) {
    const rows = await engine.readJournal(vault, seq, Math.min(ROWS_PER_READ, upTo - seq))
    // Where old rows were pruned, the read returns later ones.
    const rowsOfSpan = rows.filter((row) => row.seq <= upTo)
    yield rowsOfSpan.flatMap(({ bytes, seq: id }) => {
      const damage = { kind: 'journal', id, places: [`vault ${vault}`] } as const
      return decodeOrReport(() => ({ ...decodeJournalEntry(bytes), seq: id }), damage, report)
    })
    const last = rowsOfSpan.at(-1)
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
