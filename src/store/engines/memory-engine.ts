import type { Batch, Engine, EngineUsage, JournalRow, RecordRow, Sweep } from '../engine.ts'
import { MemorySessionRegistry } from '../sessions/session-registry.ts'
import { type CommittedState, canCommit } from './can-commit.ts'
import { RowTable } from './row-table.ts'

/** Rows of a vault's journal, numbered without gaps. */
interface MemoryJournal {
  firstSeq: number
  readonly rows: Uint8Array[]
}

/** Keeps all rows in memory, for tests and temporary homes. */
export class MemoryEngine implements Engine {
  readonly name = 'memory'
  readonly isSync = true
  readonly storesDeltas = true
  readonly sessionRegistry: MemorySessionRegistry = new MemorySessionRegistry()
  readonly #pages = new RowTable()
  readonly #blobs = new RowTable()
  readonly #blobsByHash = new Map<string, number>()
  readonly #records = new Map<string, Uint8Array>()
  readonly #journals = new Map<number, MemoryJournal>()
  readonly #committedState: CommittedState = {
    record: (key) => this.#records.get(key),
    findBlob: (hash) => this.findBlob(hash),
    isTaken: ({ vault, seq }) => seq < getNextSeq(this.#journals.get(vault)),
  }
  #commits = 0

  readPage(id: number): Uint8Array | undefined {
    return this.#pages.get(id)
  }

  readBlob(id: number): Uint8Array | undefined {
    return this.#blobs.get(id)
  }

  findBlob(hash: Uint8Array): number | undefined {
    return this.#blobsByHash.get(toHex(hash))
  }

  readRecord(key: string): Uint8Array | undefined {
    return this.#records.get(key)
  }

  listRecords(prefix: string): RecordRow[] {
    const rows = [...this.#records].map(([key, bytes]) => ({ key, bytes }))
    return rows.filter(({ key }) => key.startsWith(prefix)).sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  readJournal(vault: number, after: number, limit: number): JournalRow[] {
    const { firstSeq, rows } = this.#journals.get(vault) ?? { firstSeq: 1, rows: [] }
    const from = Math.max(after + 1, firstSeq)
    return rows
      .slice(from - firstSeq, from - firstSeq + limit)
      .map((bytes, index) => ({ vault, seq: from + index, bytes }))
  }

  listPages(after: number, limit: number): number[] {
    return this.#pages.listAfter(after, limit)
  }

  listBlobs(after: number, limit: number): number[] {
    return this.#blobs.listAfter(after, limit)
  }

  usage(): EngineUsage {
    const rows = [...this.#journals.values()].flatMap((journal) => journal.rows)
    const pages = { count: this.#pages.count, bytes: this.#pages.countBytes() }
    const blobs = { count: this.#blobs.count, bytes: this.#blobs.countBytes() }
    const journal = { count: rows.length, bytes: rows.reduce((sum, bytes) => sum + bytes.length, 0) }
    return { pages, blobs, journal, totalBytes: pages.bytes + blobs.bytes + journal.bytes }
  }

  changeCount(): number {
    return this.#commits
  }

  commit(batch: Batch): boolean {
    if (!canCommit(batch, this.#committedState)) return false
    this.#commits++
    if (batch.sweep) this.#sweep(batch.sweep)
    for (const { key, bytes } of batch.records ?? []) {
      if (bytes === null) this.#records.delete(key)
      else this.#records.set(key, bytes)
    }
    for (const { id, bytes } of batch.pages ?? []) this.#pages.set(id, bytes)
    for (const { id, hash, bytes } of batch.blobs ?? []) {
      this.#blobs.set(id, bytes)
      if (hash.length > 0) this.#blobsByHash.set(toHex(hash), id)
    }
    for (const row of batch.journal ?? []) this.#appendRow(row)
    return true
  }

  sync(): void {}

  async close(): Promise<void> {}

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Removes the rows that a collection found unused. */
  #sweep({ pages = [], hashes = [], blobs = [], journal = [] }: Sweep): void {
    for (const id of pages) this.#pages.delete(id)
    for (const { hash, blob } of hashes)
      if (this.findBlob(hash) === blob) this.#blobsByHash.delete(toHex(hash))
    // A blob that its hash still finds was used again meanwhile.
    for (const { hash, blob } of blobs) if (this.findBlob(hash) !== blob) this.#blobs.delete(blob)
    for (const { vault, upTo } of journal) {
      const found = this.#journals.get(vault)
      if (found === undefined || upTo < found.firstSeq) continue
      const swept = found.rows.splice(0, upTo - found.firstSeq + 1)
      found.firstSeq += swept.length
      if (found.rows.length === 0) this.#journals.delete(vault)
    }
  }

  #appendRow({ vault, seq, bytes }: JournalRow): void {
    const journal = this.#journals.get(vault) ?? { firstSeq: seq, rows: [] }
    journal.rows.push(bytes)
    this.#journals.set(vault, journal)
  }
}

function getNextSeq(journal: MemoryJournal | undefined): number {
  return journal === undefined ? 0 : journal.firstSeq + journal.rows.length
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}
