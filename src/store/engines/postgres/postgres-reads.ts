import type { JournalRow, ReadBatch, ReadBatchResult } from '../../engine.ts'
import type { ReadRows, SqlRow, SqlStatement } from './postgres-connection.ts'

/** Kinds of rows that the statement below returns. */
const kinds = { page: 0, blob: 1, hash: 2, record: 3, journal: 4 } as const

/** Reads of all kinds as one statement, which sees one state. Its columns: kind, number, sequence number, key, bytes. */
export const READ_BATCH: string = `
  select ${kinds.page}, id, 0::bigint, '', bytes from S.pages where id = any($1::bigint[])
  union all select ${kinds.blob}, id, 0, '', bytes from S.blobs where id = any($2::bigint[])
  union all select ${kinds.hash}, blob, 0, '', hash from S.hashes where hash = any($3::bytea[])
  union all select ${kinds.record}, 0, 0, key, bytes from S.records where key = any($4::text[])
  union all select ${kinds.journal}, r.number, j.seq, '', j.bytes
    from unnest($5::bigint[], $6::bigint[], $7::bigint[]) with ordinality r(vault, after, amount, number)
    cross join lateral (
      select seq, bytes from S.journal where vault = r.vault and seq > r.after order by seq limit r.amount
    ) j`

/** A batch that reads nothing. */
export const EMPTY_READ: ReadBatch = { pages: [], blobs: [], hashes: [], records: [], journals: [] }

/** Reads a batch in one trip. */
export async function readBatch(
  readRows: ReadRows,
  statement: SqlStatement,
  batch: ReadBatch,
): Promise<ReadBatchResult> {
  const { pages, blobs, hashes, records, journals } = batch
  const rows = await readRows(statement, [
    pages.map(String),
    blobs.map(String),
    hashes.map(formatBytes),
    records,
    journals.map(({ vault }) => String(vault)),
    journals.map(({ after }) => String(after)),
    journals.map(({ limit }) => String(Math.max(0, limit))),
  ])
  const found = new FoundRows(rows)
  return {
    pages: pages.map((id) => found.values.get(`${kinds.page} ${id}`)),
    blobs: blobs.map((id) => found.values.get(`${kinds.blob} ${id}`)),
    hashes: hashes.map((hash) => found.hashes.get(formatBytes(hash))),
    records: records.map((key) => found.values.get(`${kinds.record} ${key}`)),
    journals: journals.map(({ vault }, index) => found.listJournal(index + 1, vault)),
  }
}

/** Rows of the statement, by what was requested. */
class FoundRows {
  readonly values = new Map<string, Uint8Array>()
  readonly hashes = new Map<string, number>()
  readonly #journals = new Map<number, Omit<JournalRow, 'vault'>[]>()

  constructor(rows: readonly SqlRow[]) {
    for (const [kind, number, seq, key, value] of rows) {
      const bytes = toBytes(value)
      if (kind === kinds.hash) this.hashes.set(formatBytes(bytes), Number(number))
      else if (kind === kinds.journal) this.#addRow(Number(number), { seq: Number(seq), bytes })
      else this.values.set(`${kind} ${kind === kinds.record ? key : number}`, bytes)
    }
  }

  listJournal(number: number, vault: number): JournalRow[] {
    const rows = this.#journals.get(number) ?? []
    return rows.toSorted((one, other) => one.seq - other.seq).map((row) => ({ vault, ...row }))
  }

  #addRow(number: number, row: Omit<JournalRow, 'vault'>): void {
    const rows = this.#journals.get(number)
    if (rows === undefined) this.#journals.set(number, [row])
    else rows.push(row)
  }
}

export function toBytes(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array(0)
}

/** Returns bytes as text of SQL. */
function formatBytes(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString('hex')}`
}
