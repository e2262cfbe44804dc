import type { Batch, HashRow, JournalRow, RecordRow } from '../../engine.ts'

/** A batch as arguments of the commit function. */
export interface PackedBatch {
  /** The row of a batch that has one; its bytes are the first. */
  readonly row: { readonly vault: number; readonly seq: number; readonly size: number } | undefined
  /** Lists as array literals of PostgreSQL; null if all are empty. */
  readonly keys: string | null
  readonly checks: string | null
  readonly changes: string | null
  readonly data: Buffer
}

type Row = readonly number[]

/** Position and length of a record that is absent or deleted. */
const ABSENT: Row = [1, -1]
const NONE: readonly never[] = []

/** Packs a batch for the commit function: all bytes in one buffer, since arrays of bytes travel as text. */
export function packBatch(batch: Batch): PackedBatch {
  const bytes = new BytePacker()
  const { journal = NONE } = batch
  const [only] = journal.length === 1 ? journal : NONE
  const row = only && { vault: only.vault, seq: only.seq, size: bytes.add(only.bytes)[1] ?? 0 }
  const keys: string[] = []
  const checks = packChecks(batch, keys, bytes)
  const changes = packChanges(batch, only === undefined ? journal : NONE, keys, bytes)
  return { row, keys: formatTexts(keys), checks, changes, data: bytes.concat() }
}

function packChecks(
  { expect = NONE, requires = NONE, records = NONE }: Batch,
  keys: string[],
  bytes: BytePacker,
): string | null {
  const lists = new ListPacker(keys, bytes)
  lists.addKeys(listLocks(expect, records))
  lists.addRecords(expect)
  lists.addHashes(requires)
  return lists.format()
}

/** Lists the keys of records to lock. A single record needs no lock before its own change, unless it is compared. */
function listLocks(expect: readonly RecordRow[], records: readonly RecordRow[]): readonly string[] {
  if (expect.length + records.length === 0) return NONE
  const keys = [...new Set([...expect, ...records].map(({ key }) => key))].sort()
  return keys.length > 1 || expect.some(({ bytes }) => bytes !== null) ? keys : NONE
}

function packChanges(
  batch: Batch,
  journal: readonly JournalRow[],
  keys: string[],
  bytes: BytePacker,
): string | null {
  const { expect = NONE, pages = NONE, blobs = NONE, sweep = {} } = batch
  const records = uniqueBy(batch.records ?? NONE, ({ key }) => key)
  const absent = records.length === 0 ? NONE : expect.filter((row) => row.bytes === null)
  const isNew = ({ key, bytes }: RecordRow) => bytes !== null && absent.some((row) => row.key === key)
  const stored = uniqueBy(blobs, ({ id }) => id)
  const lists = new ListPacker(keys, bytes)
  lists.addJournal(journal)
  lists.add(sweep.pages ?? NONE, (id) => [id])
  lists.addHashes(sweep.hashes ?? NONE)
  lists.addHashes(sweep.blobs ?? NONE)
  lists.add(sweep.journal ?? NONE, ({ vault, upTo }) => [vault, upTo])
  lists.addById(uniqueBy(pages, ({ id }) => id))
  lists.addById(stored)
  lists.addHashes(listHashes(stored))
  lists.addRecords(records.filter(isNew))
  lists.addRecords(records.filter((row) => !isNew(row)))
  return lists.format()
}

/** Lists the hashes of blobs that have one; the last blob of each hash. */
function listHashes(blobs: NonNullable<Batch['blobs']>): readonly HashRow[] {
  const hashed = blobs.filter(({ hash }) => hash.length > 0).map(({ hash, id }) => ({ hash, blob: id }))
  return uniqueBy(hashed, ({ hash }) => Buffer.from(hash).toString('latin1'))
}

/** Collects lists in the order in which the commit function reads them, and their keys and bytes. */
class ListPacker {
  readonly #keys: string[]
  readonly #bytes: BytePacker
  readonly #counts: number[] = []
  readonly #columns: number[] = []

  constructor(keys: string[], bytes: BytePacker) {
    this.#keys = keys
    this.#bytes = bytes
  }

  /** Returns an array literal: the lengths of all lists, then their columns. Null if all are empty. */
  format(): string | null {
    if (this.#counts.every((count) => count === 0)) return null
    return `{${this.#counts.join()}${this.#columns.length === 0 ? '' : ','}${this.#columns.join()}}`
  }

  /** Adds a list column by column. */
  add<T>(items: readonly T[], toRow: (item: T) => Row): void {
    this.#counts.push(items.length)
    const rows = items.map(toRow)
    const width = rows[0]?.length ?? 0
    for (let column = 0; column < width; column++)
      for (const row of rows) this.#columns.push(row[column] ?? 0)
  }

  /** Adds a list that has only keys. */
  addKeys(keys: readonly string[]): void {
    this.#counts.push(keys.length)
    this.#keys.push(...keys)
  }

  addRecords(records: readonly RecordRow[]): void {
    const sorted = sort(records, (one, other) => (one.key < other.key ? -1 : 1))
    for (const { key } of sorted) this.#keys.push(key)
    this.add(sorted, ({ bytes }) => (bytes === null ? ABSENT : this.#bytes.add(bytes)))
  }

  addHashes(rows: readonly HashRow[]): void {
    const sorted = sort(rows, (one, other) => Buffer.compare(one.hash, other.hash))
    this.add(sorted, ({ hash, blob }) => [...this.#bytes.add(hash), blob])
  }

  addById(rows: readonly { readonly id: number; readonly bytes: Uint8Array }[]): void {
    const sorted = sort(rows, (one, other) => one.id - other.id)
    this.add(sorted, ({ id, bytes }) => [id, ...this.#bytes.add(bytes)])
  }

  /** Adds two lists: the first number of each vault, and the rows. */
  addJournal(rows: readonly JournalRow[]): void {
    const sorted = sort(rows, (one, other) => one.vault - other.vault || one.seq - other.seq)
    const first = sorted.filter(({ vault }, index) => vault !== sorted[index - 1]?.vault)
    this.add(first, ({ vault, seq }) => [vault, seq])
    this.add(sorted, ({ vault, seq, bytes }) => [vault, seq, ...this.#bytes.add(bytes)])
  }
}

/** Collects bytes. */
class BytePacker {
  readonly #chunks: Uint8Array[] = []
  /** Position of the next byte; SQL counts from one. */
  #position = 1

  /** Appends bytes; returns their position and length. */
  add(bytes: Uint8Array): Row {
    const position = this.#position
    this.#chunks.push(bytes)
    this.#position += bytes.length
    return [position, bytes.length]
  }

  concat(): Buffer {
    return Buffer.concat(this.#chunks, this.#position - 1)
  }
}

function formatTexts(texts: readonly string[]): string | null {
  if (texts.length === 0) return null
  return `{${texts.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join()}}`
}

/** Returns a sorted copy; what has nothing to sort, as it is. */
function sort<T>(rows: readonly T[], compare: (one: T, other: T) => number): readonly T[] {
  return rows.length < 2 ? rows : rows.toSorted(compare)
}

/** Returns the last item of each key: one statement must not change a row twice. */
function uniqueBy<T>(items: readonly T[], key: (item: T) => string | number): readonly T[] {
  return items.length < 2 ? items : [...new Map(items.map((item) => [key(item), item])).values()]
}
