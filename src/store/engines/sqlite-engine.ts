import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { makePrivateFile } from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'
import type {
  Batch,
  Durability,
  Engine,
  EngineUsage,
  GroupCommit,
  JournalRow,
  RecordRow,
  Sweep,
} from '../engine.ts'
import { SqliteGroupCommit } from '../group-commit/sqlite-group-commit.ts'
import { FileSessionRegistry } from '../sessions/file-session-registry.ts'
import { type CommittedState, canCommit } from './can-commit.ts'
import { DiskSpace, isGrowing } from './disk-space.ts'
import { getDiskFreeBytes, sumFileSizes } from './disk-usage.ts'
import { commitError } from './engine-errors.ts'
import {
  APPLICATION_ID,
  assertOwnLog,
  BUSY_TIMEOUT_MS,
  FORMAT_VERSION,
  identifyDatabase,
} from './sqlite-identity.ts'
import { SCHEMA, SqliteStatements } from './sqlite-statements.ts'
import { SqliteWal } from './sqlite-wal.ts'
import { StoreFile } from './store-file.ts'

/** Rows of a vault's journal are numbered from here on: vault and place in one integer key, so rows are appended. */
const JOURNAL_SPAN = 2 ** 36
const MAX_SEQ = JOURNAL_SPAN - 1
const RETRY_MS = 5
const SQLITE_BUSY = 5
const PAGE_BYTES = 8192
/** How much room is given back in one transaction: others wait no longer than for a commit. */
const SHRINK_PAGES = 256
/** The same where room is scarce: each page that moves is written to the log, and those that lead to it. */
const SCARCE_SHRINK_PAGES = 32
/** A record that every durable commit changes. */
const SYNC_KEY = 'sync'
/** In the place of a value that is no blob any more: whoever decodes it finds that it is damaged. */
const NO_BYTES = new Uint8Array(0)

export interface SqliteEngineOptions {
  readonly file: string
  /**
   * `relaxed` is `process`: less syncing than that may tear the file when power fails.
   * @default 'process'
   */
  readonly durability?: Durability
  /** The file is only read, and nothing is made beside it. What is still in a log beside it is not seen. */
  readonly isImmutable?: boolean
}

/** A home in one SQLite file, in WAL mode. The default: nothing to install, and any tool can look inside. */
export class SqliteEngine implements Engine {
  readonly name = 'sqlite'
  readonly isSync = true
  readonly sessionRegistry: FileSessionRegistry
  readonly #file: string
  readonly #db: DatabaseSync
  readonly #isFullyDurable: boolean
  readonly #isImmutable: boolean
  readonly #statements: SqliteStatements
  readonly #storeFile: StoreFile
  readonly #committedState: CommittedState = {
    record: (key) => this.readRecord(key),
    findBlob: (hash) => this.findBlob(hash),
    isTaken: (row) =>
      this.#statements.get('hasJournal').get(journalId(row), lastJournalId(row.vault)) !== undefined,
  }
  readonly #groupCommit: SqliteGroupCommit
  readonly #diskSpace: DiskSpace
  readonly #wal: SqliteWal
  #isClosed = false

  constructor({ file, durability = 'process', isImmutable = false }: SqliteEngineOptions) {
    this.#file = file
    this.#isImmutable = isImmutable
    // Made before SQLite would: what lies beside it takes its permissions.
    if (!isImmutable && !makePrivateFile(file)) assertOwnLog(file)
    this.sessionRegistry = new FileSessionRegistry(`${file}-sessions`)
    // To open a store is to write a little: what SQLite maps into memory must not be without room.
    this.#diskSpace = new DiskSpace(`${file}-reserve`)
    if (!isImmutable) this.#diskSpace.freeReserve()
    this.#db = isImmutable ? openImmutable(file) : new DatabaseSync(file)
    this.#wal = new SqliteWal(this.#db)
    this.#storeFile = new StoreFile(file)
    this.#isFullyDurable = durability === 'full'
    this.#statements = new SqliteStatements(this.#db)
    this.#groupCommit = this.#createGroupCommit(file)
    try {
      if (isImmutable) this.#setUpImmutable()
      else {
        this.#setUp()
        this.#groupCommit.recover()
      }
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  /** Where each commit is to survive power loss, there is nothing to gather. */
  get groupCommit(): GroupCommit | undefined {
    return this.#isFullyDurable ? undefined : this.#groupCommit
  }

  readPage(id: number): Uint8Array | undefined {
    return toBytes(this.#statements.getValue('readPage', id))
  }

  readBlob(id: number): Uint8Array | undefined {
    return toBytes(this.#statements.getValue('readBlob', id))
  }

  findBlob(hash: Uint8Array): number | undefined {
    const found = this.#statements.getValue('findBlob', hash)
    return typeof found === 'number' ? found : undefined
  }

  readRecord(key: string): Uint8Array | undefined {
    return toBytes(this.#statements.getValue('readRecord', key))
  }

  listRecords(prefix: string): RecordRow[] {
    return this.#statements
      .get('listRecords')
      .all(prefix, `${prefix}\u{10ffff}`)
      .map((row) => ({ key: String(row['key']), bytes: getBytes(row) ?? NO_BYTES }))
  }

  readJournal(vault: number, after: number, limit: number): JournalRow[] {
    const from = journalId({ vault, seq: after + 1 })
    const rows = this.#statements
      .get('readJournal')
      .all(journalId({ vault, seq: 0 }), from, lastJournalId(vault), limit)
    return rows.map((row) => ({ vault, seq: Number(row['seq']), bytes: getBytes(row) ?? NO_BYTES }))
  }

  listPages(after: number, limit: number): number[] {
    return toIds(this.#statements.get('listPages').all(after, limit))
  }

  listBlobs(after: number, limit: number): number[] {
    return toIds(this.#statements.get('listBlobs').all(after, limit))
  }

  usage(): EngineUsage {
    return {
      pages: this.#measureTable('usageOfPages'),
      blobs: this.#measureTable('usageOfBlobs'),
      journal: this.#measureTable('usageOfJournal'),
      totalBytes: sumFileSizes([this.#file, `${this.#file}-wal`]),
    }
  }

  getFreeBytes(): number {
    return getDiskFreeBytes(dirname(this.#file))
  }

  changeCount(): number {
    if (this.#isImmutable) this.#storeFile.assertUnchanged()
    return this.#readDataVersion()
  }

  commit(batch: Batch): boolean {
    const mustSync = batch.durable === true && !this.#isFullyDurable
    try {
      if (mustSync) this.#setSynchronous(true)
      return this.#commitOrUseReserve(batch)
    } catch (error) {
      throw commitError(error)
    } finally {
      if (mustSync) this.#db.exec('PRAGMA synchronous = NORMAL')
    }
  }

  shrink(): number {
    try {
      let given = 0
      this.#diskSpace.freeReserve()
      this.#groupCommit.runExclusively(() => {
        const before = this.#readPageCount()
        const pages = this.#diskSpace.isScarce ? SCARCE_SHRINK_PAGES : SHRINK_PAGES
        this.#db.exec(`PRAGMA incremental_vacuum(${pages})`)
        given = before - this.#readPageCount()
      })
      // The file is cut when the log is brought into it. Not waiting for readers: then the next one does.
      if (given === 0 || this.#diskSpace.isScarce) this.#wal.checkpoint()
      return given * PAGE_BYTES
    } catch (error) {
      throw commitError(error)
    }
  }

  sync(): void {
    // Syncs the whole log, and with it whatever anybody committed before.
    this.commit({ durable: true })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    if (!this.#isImmutable) this.#groupCommit.close()
    this.#db.close()
    this.#diskSpace.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #createGroupCommit(file: string): SqliteGroupCommit {
    const transactions = {
      beforeFirstGroup: () => {
        this.#wal.usesGroupCommit = true
      },
      begin: () => {
        this.#wal.limitSize(this.#diskSpace.isScarce)
        // IMMEDIATE: a transaction that begins as a reader and then writes fails if anybody wrote in between.
        this.#statements.get('begin').run()
        this.#storeFile.assertPresent()
      },
      commit: () => {
        this.#statements.get('commit').run()
      },
      rollback: () => this.#rollback(),
      isCurrent: (batch: Batch) => canCommit(batch, this.#committedState),
      apply: (batch: Batch) => this.#apply(batch),
      record: (key: string) => this.readRecord(key),
      changeCount: () => this.#readDataVersion(),
    }
    return new SqliteGroupCommit(file, transactions, this.#diskSpace)
  }

  /** A batch that frees is tried once more, with the whole reserve. */
  #commitOrUseReserve(batch: Batch): boolean {
    const { isActive } = this.#groupCommit
    try {
      return this.#groupCommit.commitBatch(batch)
    } catch (error) {
      if (isActive || isGrowing(batch) || commitError(error).code !== 'ENOSPC') throw error
      this.#diskSpace.releaseReserve()
      this.#wal.checkpoint()
      return this.#groupCommit.commitBatch(batch)
    }
  }

  #readPageCount(): number {
    return Number(this.#statements.get('pageCount').get()?.['page_count'])
  }

  #readDataVersion(): number {
    return Number(this.#statements.getValue('changeCount'))
  }

  #rollback(): void {
    try {
      this.#statements.get('rollback').run()
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full, or it never began.
    }
  }

  #apply({ sweep, records = [], pages = [], blobs = [], journal = [], durable = false }: Batch): void {
    if (sweep) this.#sweep(sweep)
    const run = this.#statements
    for (const { id, bytes } of blobs) run.get('putBlob').run(id, bytes)
    for (const { id, hash } of blobs) if (hash.length > 0) run.get('putHash').run(hash, id)
    for (const { id, bytes } of pages) run.get('putPage').run(id, bytes)
    for (const row of journal) run.get('putJournal').run(journalId(row), row.bytes)
    for (const { key, bytes } of records) {
      if (bytes === null) run.get('deleteRecord').run(key)
      else run.get('putRecord').run(key, bytes)
    }
    // A transaction that changes nothing syncs nothing.
    if (durable) run.get('putRecord').run(SYNC_KEY, randomBytes(8))
  }

  /** Hashes before blobs: a blob goes only if no hash leads to it any more. */
  #sweep({ pages = [], hashes = [], blobs = [], journal = [] }: Sweep): void {
    const run = this.#statements
    for (const id of pages) run.get('deletePage').run(id)
    for (const { hash, blob } of hashes) run.get('deleteHash').run(hash, blob)
    for (const { hash, blob } of blobs) run.get('deleteBlob').run(blob, hash)
    for (const { vault, upTo } of journal) {
      const last = journalId({ vault, seq: Math.min(upTo, MAX_SEQ) })
      run.get('deleteJournal').run(journalId({ vault, seq: 0 }), last)
    }
  }

  #measureTable(name: 'usageOfPages' | 'usageOfBlobs' | 'usageOfJournal'): { count: number; bytes: number } {
    const row = this.#statements.get(name).get()
    return { count: Number(row?.['count']), bytes: Number(row?.['bytes']) }
  }

  /**
   * Prepares the store, and retries while SQLite reports busy. SQLite does not wait where two processes switch a new
   * file to WAL mode: both have a shared lock that the other waits for. The second attempt finds the work done.
   */
  #setUp(): void {
    this.#db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    const deadline = performance.now() + BUSY_TIMEOUT_MS
    for (;;) {
      try {
        this.#prepareStore()
        return
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw error
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
      }
    }
  }

  #prepareStore(): void {
    // Chunks need fewer of such pages, and free ones can be given back. To ask that of an old file would be to write.
    const isNew = this.#readPageCount() === 0
    const isStore = !isNew && identifyDatabase(this.#db, this.#file) === 'store'
    if (isNew) this.#db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA auto_vacuum = INCREMENTAL`)
    this.#db.exec('PRAGMA journal_mode = WAL')
    this.#db.exec('PRAGMA cache_size = -16000')
    // Per connection, and silently the default if misspelt: set at every open, and asked back.
    this.#setSynchronous(this.#isFullyDurable)
    if (!isStore) this.#createTables()
  }

  #setUpImmutable(): void {
    this.#db.exec('PRAGMA cache_size = -16000')
    if (identifyDatabase(this.#db, this.#file) === 'store') return
    const detail = `${this.#file} holds no store yet, and cannot be written`
    throw new VfsError('EROFS', this.#file, { op: 'open', detail })
  }

  /** All or nothing, so that whoever opens it next finds a store or an empty file. */
  #createTables(): void {
    const header = `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT_VERSION}`
    this.#statements.get('begin').run()
    try {
      this.#db.exec(`${header}; ${SCHEMA}`)
      this.#statements.get('commit').run()
    } catch (error) {
      this.#rollback()
      throw error
    }
  }

  #setSynchronous(full: boolean): void {
    this.#db.exec(`PRAGMA synchronous = ${full ? 'FULL' : 'NORMAL'}`)
    const level = this.#statements.get('synchronous').get()?.['synchronous']
    if (level !== (full ? 2 : 1))
      throw new VfsError('EIO', this.#file, { op: 'open', detail: 'SQLite refuses to sync as asked' })
  }
}

/** Opens a database that nobody changes: SQLite takes no lock, and needs no file beside it. */
function openImmutable(file: string): DatabaseSync {
  const uri = pathToFileURL(file)
  uri.searchParams.set('immutable', '1')
  return new DatabaseSync(uri, { readOnly: true })
}

/** A big integer where a number would round it: from vault 131,072 on. */
function journalId({ vault, seq }: Pick<JournalRow, 'vault' | 'seq'>): number | bigint {
  const id = vault * JOURNAL_SPAN + seq
  return Number.isSafeInteger(id) ? id : BigInt(vault) * BigInt(JOURNAL_SPAN) + BigInt(seq)
}

function lastJournalId(vault: number): number | bigint {
  return journalId({ vault, seq: MAX_SEQ })
}

function toIds(rows: readonly Record<string, unknown>[]): number[] {
  return rows.map((row) => Number(row['id']))
}

function getBytes(row: Record<string, unknown> | undefined): Uint8Array | undefined {
  return toBytes(row?.['bytes'])
}

function toBytes(value: unknown): Uint8Array | undefined {
  return value instanceof Uint8Array ? value : undefined
}

function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false
  // The low byte of an extended code is its class.
  return typeof error.errcode === 'number' && (error.errcode & 0xff) === SQLITE_BUSY
}
