import type { Batch, Engine, EngineUsage, JournalRow, RecordRow, Sweep } from '../engine.ts'
import { MemoryBoard } from '../sessions/session-board.ts'
import { isCurrent, type Present } from './batch-checks.ts'
import { NumberedRows } from './numbered-rows.ts'

/** A vault's rows without gaps, and the place of the first. */
interface Journal {
  first: number
  readonly rows: Uint8Array[]
}

/** A home in memory: for tests and for work that need not outlive the process. */
export class MemoryEngine implements Engine {
  readonly name = 'memory'
  readonly answersAtOnce = true
  readonly board: MemoryBoard = new MemoryBoard()
  readonly #pages = new NumberedRows()
  readonly #blobs = new NumberedRows()
  readonly #hashes = new Map<string, number>()
  readonly #records = new Map<string, Uint8Array>()
  readonly #journals = new Map<number, Journal>()
  readonly #present: Present = {
    record: (key) => this.#records.get(key),
    blobOf: (hash) => this.findBlob(hash),
    isTaken: ({ vault, seq }) => seq < nextPlace(this.#journals.get(vault)),
  }
  #commits = 0

  readPage(id: number): Uint8Array | undefined {
    return this.#pages.get(id)
  }

  readBlob(id: number): Uint8Array | undefined {
    return this.#blobs.get(id)
  }

  findBlob(hash: Uint8Array): number | undefined {
    return this.#hashes.get(hexOf(hash))
  }

  readRecord(key: string): Uint8Array | undefined {
    return this.#records.get(key)
  }

  listRecords(prefix: string): RecordRow[] {
    const rows = [...this.#records].map(([key, bytes]) => ({ key, bytes }))
    return rows.filter(({ key }) => key.startsWith(prefix)).sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  readJournal(vault: number, after: number, limit: number): JournalRow[] {
    const { first, rows } = this.#journals.get(vault) ?? { first: 1, rows: [] }
    const from = Math.max(after + 1, first)
    return rows
      .slice(from - first, from - first + limit)
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
    const pages = { count: this.#pages.count, bytes: this.#pages.bytes() }
    const blobs = { count: this.#blobs.count, bytes: this.#blobs.bytes() }
    const journal = { count: rows.length, bytes: rows.reduce((sum, bytes) => sum + bytes.length, 0) }
    return { pages, blobs, journal, totalBytes: pages.bytes + blobs.bytes + journal.bytes }
  }

  changeCount(): number {
    return this.#commits
  }

  commit(batch: Batch): boolean {
    if (!isCurrent(batch, this.#present)) return false
    this.#commits++
    if (batch.sweep) this.#sweep(batch.sweep)
    for (const { key, bytes } of batch.records ?? []) {
      if (bytes === null) this.#records.delete(key)
      else this.#records.set(key, bytes)
    }
    for (const { id, bytes } of batch.pages ?? []) this.#pages.set(id, bytes)
    for (const { id, hash, bytes } of batch.blobs ?? []) {
      this.#blobs.set(id, bytes)
      if (hash.length > 0) this.#hashes.set(hexOf(hash), id)
    }
    for (const row of batch.journal ?? []) this.#append(row)
    return true
  }

  sync(): void {}

  async close(): Promise<void> {}

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #sweep({ pages = [], hashes = [], blobs = [], journal = [] }: Sweep): void {
    for (const id of pages) this.#pages.delete(id)
    for (const { hash, blob } of hashes) if (this.findBlob(hash) === blob) this.#hashes.delete(hexOf(hash))
    for (const { hash, blob } of blobs) if (this.findBlob(hash) !== blob) this.#blobs.delete(blob)
    for (const { vault, upTo } of journal) {
      const found = this.#journals.get(vault)
      if (found === undefined || upTo < found.first) continue
      const swept = found.rows.splice(0, upTo - found.first + 1)
      found.first += swept.length
      if (found.rows.length === 0) this.#journals.delete(vault)
    }
  }

  #append({ vault, seq, bytes }: JournalRow): void {
    const journal = this.#journals.get(vault) ?? { first: seq, rows: [] }
    journal.rows.push(bytes)
    this.#journals.set(vault, journal)
  }
}

function nextPlace(journal: Journal | undefined): number {
  return journal === undefined ? 0 : journal.first + journal.rows.length
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}
