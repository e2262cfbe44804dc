import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { VfsError } from '../../vfs/index.ts'
import type { Batch, Durability, Engine, JournalRow, RecordRow } from '../engine.ts'

/** Rows of a vault's journal are numbered from here on: vault and place in one integer key, so rows are appended. */
const JOURNAL_SPAN = 2 ** 36
const BUSY_TIMEOUT_MS = 60_000
const FORMAT_VERSION = 1

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS pages (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS blobs (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS hashes (hash BLOB PRIMARY KEY, blob INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS journal (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID;
`

export interface SqliteEngineOptions {
  readonly file: string
  readonly durability?: Durability
}

/** A home in one SQLite file, in WAL mode. The default: nothing to install, and any tool can look inside. */
export class SqliteEngine implements Engine {
  readonly name = 'sqlite'
  readonly #db: DatabaseSync
  readonly #isFull: boolean
  readonly #statements: Statements

  constructor({ file, durability = 'process' }: SqliteEngineOptions) {
    this.#db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
    this.#isFull = durability === 'full'
    this.#db.exec('PRAGMA journal_mode = WAL; PRAGMA mmap_size = 268435456; PRAGMA cache_size = -16000')
    // Per connection, and silently the default if misspelt: set at every open, and asked back.
    this.#setSynchronous(this.#isFull)
    this.#assertFormat(file)
    this.#db.exec(SCHEMA)
    this.#statements = prepare(this.#db)
  }

  readPage(id: number): Uint8Array | undefined {
    return bytesOf(this.#statements.readPage.get(id))
  }

  readBlob(id: number): Uint8Array | undefined {
    return bytesOf(this.#statements.readBlob.get(id))
  }

  findBlob(hash: Uint8Array): number | undefined {
    const found = this.#statements.findBlob.get(hash)?.['blob']
    return typeof found === 'number' ? found : undefined
  }

  readRecord(key: string): Uint8Array | undefined {
    return bytesOf(this.#statements.readRecord.get(key))
  }

  listRecords(prefix: string): RecordRow[] {
    return this.#statements.listRecords
      .all(prefix, `${prefix}\u{10ffff}`)
      .map((row) => ({ key: String(row['key']), bytes: bytesOf(row) ?? null }))
  }

  readJournal(vault: number, after: number, limit: number): JournalRow[] {
    const first = vault * JOURNAL_SPAN
    const rows = this.#statements.readJournal.all(first + after + 1, first + JOURNAL_SPAN - 1, limit)
    return rows.flatMap((row) => {
      const bytes = bytesOf(row)
      return bytes === undefined ? [] : [{ vault, seq: Number(row['id']) - first, bytes }]
    })
  }

  changeCount(): number {
    return Number(this.#statements.changeCount.get()?.['data_version'])
  }

  commit(batch: Batch): boolean {
    const mustSync = batch.durable === true && !this.#isFull
    if (mustSync) this.#setSynchronous(true)
    try {
      return this.#transaction(batch)
    } finally {
      if (mustSync) this.#setSynchronous(false)
    }
  }

  sync(): void {
    this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')
    this.commit({ records: [{ key: 'sync', bytes: new Uint8Array(1) }], durable: true })
  }

  async close(): Promise<void> {
    if (this.#db.isOpen) this.#db.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #transaction(batch: Batch): boolean {
    // IMMEDIATE: a transaction that begins as a reader and then writes fails if anybody wrote in between.
    this.#statements.begin.run()
    try {
      const isCurrent = this.#isCurrent(batch)
      if (isCurrent) this.#apply(batch)
      if (isCurrent) this.#statements.commit.run()
      else this.#statements.rollback.run()
      return isCurrent
    } catch (error) {
      if (this.#db.isTransaction) this.#statements.rollback.run()
      throw engineError(error)
    }
  }

  #isCurrent({ expect = [], journal = [] }: Batch): boolean {
    // Rows of a vault are contiguous: if the first place is free, so are those behind it.
    const firsts = new Map(journal.toReversed().map((row) => [row.vault, row]))
    return (
      expect.every((row) => this.#isAsExpected(row)) && [...firsts.values()].every((row) => this.#isFree(row))
    )
  }

  #isAsExpected({ key, bytes }: RecordRow): boolean {
    const found = this.readRecord(key)
    if (found === undefined || bytes === null) return found === undefined && bytes === null
    return Buffer.compare(found, bytes) === 0
  }

  #isFree(row: JournalRow): boolean {
    return this.#statements.hasJournal.get(journalId(row)) === undefined
  }

  #apply({ records = [], pages = [], blobs = [], journal = [] }: Batch): void {
    const { putPage, putBlob, putHash, putJournal, putRecord, deleteRecord } = this.#statements
    for (const { id, bytes } of blobs) putBlob.run(id, bytes)
    for (const { id, hash } of blobs) if (hash.length > 0) putHash.run(hash, id)
    for (const { id, bytes } of pages) putPage.run(id, bytes)
    for (const row of journal) putJournal.run(journalId(row), row.bytes)
    for (const { key, bytes } of records) {
      if (bytes === null) deleteRecord.run(key)
      else putRecord.run(key, bytes)
    }
  }

  #setSynchronous(full: boolean): void {
    this.#db.exec(`PRAGMA synchronous = ${full ? 'FULL' : 'NORMAL'}`)
    const level = this.#db.prepare('PRAGMA synchronous').get()?.['synchronous']
    if (level !== (full ? 2 : 1))
      throw new VfsError('EIO', '/', { op: 'open', detail: 'SQLite refuses to sync as asked' })
  }

  #assertFormat(file: string): void {
    const found = Number(this.#db.prepare('PRAGMA user_version').get()?.['user_version'])
    if (found === 0) this.#db.exec(`PRAGMA user_version = ${FORMAT_VERSION}`)
    else if (found !== FORMAT_VERSION) {
      const detail = `the store has format ${found}, this version knows ${FORMAT_VERSION}; update coppice`
      throw new VfsError('ENOTSUP', file, { op: 'open', detail })
    }
  }
}

interface Statements {
  readonly begin: StatementSync
  readonly commit: StatementSync
  readonly rollback: StatementSync
  readonly readPage: StatementSync
  readonly readBlob: StatementSync
  readonly findBlob: StatementSync
  readonly readRecord: StatementSync
  readonly listRecords: StatementSync
  readonly readJournal: StatementSync
  readonly hasJournal: StatementSync
  readonly changeCount: StatementSync
  readonly putPage: StatementSync
  readonly putBlob: StatementSync
  readonly putHash: StatementSync
  readonly putJournal: StatementSync
  readonly putRecord: StatementSync
  readonly deleteRecord: StatementSync
}

function prepare(db: DatabaseSync): Statements {
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    rollback: db.prepare('ROLLBACK'),
    readPage: db.prepare('SELECT bytes FROM pages WHERE id = ?'),
    readBlob: db.prepare('SELECT bytes FROM blobs WHERE id = ?'),
    findBlob: db.prepare('SELECT blob FROM hashes WHERE hash = ?'),
    readRecord: db.prepare('SELECT bytes FROM records WHERE key = ?'),
    listRecords: db.prepare('SELECT key, bytes FROM records WHERE key >= ? AND key < ? ORDER BY key'),
    readJournal: db.prepare('SELECT id, bytes FROM journal WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?'),
    hasJournal: db.prepare('SELECT 1 FROM journal WHERE id = ?'),
    changeCount: db.prepare('PRAGMA data_version'),
    putPage: db.prepare('INSERT OR REPLACE INTO pages VALUES (?, ?)'),
    putBlob: db.prepare('INSERT OR REPLACE INTO blobs VALUES (?, ?)'),
    putHash: db.prepare('INSERT OR REPLACE INTO hashes VALUES (?, ?)'),
    putJournal: db.prepare('INSERT INTO journal VALUES (?, ?)'),
    putRecord: db.prepare('INSERT OR REPLACE INTO records VALUES (?, ?)'),
    deleteRecord: db.prepare('DELETE FROM records WHERE key = ?'),
  }
}

function journalId({ vault, seq }: Pick<JournalRow, 'vault' | 'seq'>): number {
  return vault * JOURNAL_SPAN + seq
}

function bytesOf(row: Record<string, unknown> | undefined): Uint8Array | undefined {
  const bytes = row?.['bytes']
  return bytes instanceof Uint8Array ? bytes : undefined
}

function engineError(cause: unknown): VfsError {
  const message = cause instanceof Error ? cause.message : String(cause)
  const code = message.includes('full') ? 'ENOSPC' : 'EIO'
  return new VfsError(code, '/', { op: 'commit', detail: `the store could not commit: ${message}`, cause })
}
