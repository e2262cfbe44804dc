import type { Batch, HashRow, RecordRow } from '../../engine.ts'

/** A batch as arguments of the commit function. */
export interface PackedBatch {
  readonly keys: readonly string[]
  /** An array literal of PostgreSQL. */
  readonly numbers: string
  readonly data: Buffer
}

type Row = readonly number[]

/** Position and length of a record that is absent or deleted. */
const ABSENT: Row = [1, -1]

/** Packs a batch for the commit function: all bytes in one buffer, since arrays of bytes travel as text. */
export function packBatch(batch: Batch): PackedBatch {
  return new BatchPacker().pack(batch)
}

/** Collects keys, numbers and bytes in the order in which the commit function reads them. */
class BatchPacker {
  readonly #keys: string[] = []
  readonly #counts: number[] = []
  readonly #columns: number[] = []
  readonly #chunks: Uint8Array[] = []
  /** Position of the next byte; SQL counts from one. */
  #position = 1

  pack(batch: Batch): PackedBatch {
    const { expect = [], requires = [], journal = [], pages = [], blobs = [], sweep = {} } = batch
    const records = uniqueBy(batch.records ?? [], ({ key }) => key)
    const absent = new Set(expect.filter(({ bytes }) => bytes === null).map(({ key }) => key))
    const isNew = ({ key, bytes }: RecordRow) => bytes !== null && absent.has(key)
    const stored = uniqueBy(blobs, ({ id }) => id)
    const hashed = uniqueBy(
      stored.filter(({ hash }) => hash.length > 0),
      ({ hash }) => Buffer.from(hash).toString('latin1'),
    )
    this.#addLocks(expect, records)
    this.#addRecords(expect)
    this.#addHashes(requires)
    const rows = journal.toSorted((one, other) => one.vault - other.vault || one.seq - other.seq)
    this.#add(rows.map(({ vault, seq, bytes }) => [vault, seq, ...this.#put(bytes)]))
    this.#add((sweep.pages ?? []).map((id) => [id]))
    this.#addHashes(sweep.hashes ?? [])
    this.#addHashes(sweep.blobs ?? [])
    this.#add((sweep.journal ?? []).map(({ vault, upTo }) => [vault, upTo]))
    this.#addById(uniqueBy(pages, ({ id }) => id))
    this.#addById(stored)
    this.#addHashes(hashed.map(({ hash, id }) => ({ hash, blob: id })))
    this.#addRecords(records.filter(isNew))
    this.#addRecords(records.filter((row) => !isNew(row)))
    const numbers = `{${[...this.#counts, ...this.#columns].join()}}`
    return { keys: this.#keys, numbers, data: Buffer.concat(this.#chunks) }
  }

  /** Adds the keys of records to lock. A single record needs no lock before its own change, unless it is compared. */
  #addLocks(expect: readonly RecordRow[], records: readonly RecordRow[]): void {
    const keys = [...new Set([...expect, ...records].map(({ key }) => key))].sort()
    const isNeeded = expect.some(({ bytes }) => bytes !== null) || keys.length > 1
    this.#counts.push(isNeeded ? keys.length : 0)
    if (isNeeded) this.#keys.push(...keys)
  }

  #addRecords(records: readonly RecordRow[]): void {
    const sorted = records.toSorted((one, other) => (one.key < other.key ? -1 : 1))
    this.#keys.push(...sorted.map(({ key }) => key))
    this.#add(sorted.map(({ bytes }) => (bytes === null ? ABSENT : this.#put(bytes))))
  }

  #addHashes(rows: readonly HashRow[]): void {
    const sorted = rows.toSorted((one, other) => Buffer.compare(one.hash, other.hash))
    this.#add(sorted.map(({ hash, blob }) => [...this.#put(hash), blob]))
  }

  #addById(rows: readonly { readonly id: number; readonly bytes: Uint8Array }[]): void {
    const sorted = rows.toSorted((one, other) => one.id - other.id)
    this.#add(sorted.map(({ id, bytes }) => [id, ...this.#put(bytes)]))
  }

  /** Adds a list column by column. */
  #add(rows: readonly Row[]): void {
    this.#counts.push(rows.length)
    const width = rows[0]?.length ?? 0
    for (let column = 0; column < width; column++)
      for (const row of rows) this.#columns.push(row[column] ?? 0)
  }

  /** Appends bytes; returns their position and length. */
  #put(bytes: Uint8Array): Row {
    const position = this.#position
    this.#chunks.push(bytes)
    this.#position += bytes.length
    return [position, bytes.length]
  }
}

/** Returns the last item of each key: one statement must not change a row twice. */
function uniqueBy<T>(items: readonly T[], key: (item: T) => string | number): readonly T[] {
  return items.length < 2 ? items : [...new Map(items.map((item) => [key(item), item])).values()]
}
