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
  Gathering,
  JournalRow,
  RecordRow,
  Sweep,
} from '../engine.ts'
import { FileBoard } from '../sessions/file-board.ts'
import { isCurrent, type Present } from './batch-checks.ts'
import { roomLeft, sizeOf } from './directory-size.ts'
import { DiskRoom, isGrowing } from './disk-room.ts'
import { commitError } from './engine-errors.ts'
import { SqliteGathering } from './sqlite-gathering.ts'
import { APPLICATION_ID, assertOwnLog, FORMAT_VERSION, identify } from './sqlite-identity.ts'
import { SqliteLog } from './sqlite-log.ts'
import { SCHEMA, Statements } from './sqlite-statements.ts'
import { StorePlace } from './store-place.ts'

/** Rows of a vault's journal are numbered from here on: vault and place in one integer key, so rows are appended. */
const JOURNAL_SPAN = 2 ** 36
const LAST_PLACE = JOURNAL_SPAN - 1
const BUSY_TIMEOUT_MS = 60_000
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
  readonly answersAtOnce = true
  readonly board: FileBoard
  readonly #file: string
  readonly #db: DatabaseSync
  readonly #isFull: boolean
  readonly #isImmutable: boolean
  readonly #statements: Statements
  readonly #place: StorePlace
  readonly #present: Present = {
    record: (key) => this.readRecord(key),
    blobOf: (hash) => this.findBlob(hash),
    isTaken: (row) =>
      this.#statements.get('hasJournal').get(journalId(row), lastJournalId(row.vault)) !== undefined,
  }
  readonly #commits: SqliteGathering
  readonly #room: DiskRoom
  readonly #log: SqliteLog
  #isClosed = false

  constructor({ file, durability = 'process', isImmutable = false }: SqliteEngineOptions) {
    this.#file = file
    this.#isImmutable = isImmutable
    // Made before SQLite would: what lies beside it takes its permissions.
    if (!isImmutable && !makePrivateFile(file)) assertOwnLog(file)
    this.board = new FileBoard(`${file}-sessions`)
    // To open a store is to write a little: what SQLite maps into memory must not be without room.
    this.#room = new DiskRoom(`${file}-reserve`)
    if (!isImmutable) this.#room.makeWay()
    this.#db = isImmutable ? openImmutable(file) : new DatabaseSync(file)
    this.#log = new SqliteLog(this.#db)
    this.#place = new StorePlace(file)
    this.#isFull = durability === 'full'
    this.#statements = new Statements(this.#db)
    this.#commits = this.#gatheringAt(file)
    try {
      if (isImmutable) this.#setUpImmutable()
      else {
        this.#setUp()
        this.#commits.takeInLeft()
      }
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  /** Where each commit is to survive power loss, there is nothing to gather. */
  get gathering(): Gathering | undefined {
    return this.#isFull ? undefined : this.#commits
  }

  readPage(id: number): Uint8Array | undefined {
    return asBytes(this.#statements.value('readPage', id))
  }

  readBlob(id: number): Uint8Array | undefined {
    return asBytes(this.#statements.value('readBlob', id))
  }

  findBlob(hash: Uint8Array): number | undefined {
    const found = this.#statements.value('findBlob', hash)
    return typeof found === 'number' ? found : undefined
  }

  readRecord(key: string): Uint8Array | undefined {
    return asBytes(this.#statements.value('readRecord', key))
  }

  listRecords(prefix: string): RecordRow[] {
    return this.#statements
      .get('listRecords')
      .all(prefix, `${prefix}\u{10ffff}`)
      .map((row) => ({ key: String(row['key']), bytes: bytesOf(row) ?? NO_BYTES }))
  }

  readJournal(vault: number, after: number, limit: number): JournalRow[] {
    const from = journalId({ vault, seq: after + 1 })
    const rows = this.#statements
      .get('readJournal')
      .all(journalId({ vault, seq: 0 }), from, lastJournalId(vault), limit)
    return rows.map((row) => ({ vault, seq: Number(row['seq']), bytes: bytesOf(row) ?? NO_BYTES }))
  }

  listPages(after: number, limit: number): number[] {
    return idsOf(this.#statements.get('listPages').all(after, limit))
  }

  listBlobs(after: number, limit: number): number[] {
    return idsOf(this.#statements.get('listBlobs').all(after, limit))
  }

  usage(): EngineUsage {
    return {
      pages: this.#usageOf('usageOfPages'),
      blobs: this.#usageOf('usageOfBlobs'),
      journal: this.#usageOf('usageOfJournal'),
      totalBytes: sizeOf([this.#file, `${this.#file}-wal`]),
    }
  }

  roomLeft(): number {
    return roomLeft(dirname(this.#file))
  }

  changeCount(): number {
    if (this.#isImmutable) this.#place.assertUnchanged()
    return this.#foreignChanges()
  }

  commit(batch: Batch): boolean {
    const mustSync = batch.durable === true && !this.#isFull
    try {
      if (mustSync) this.#setSynchronous(true)
      return this.#add(batch)
    } catch (error) {
      throw commitError(error)
    } finally {
      if (mustSync) this.#db.exec('PRAGMA synchronous = NORMAL')
    }
  }

  shrink(): number {
    try {
      let given = 0
      this.#room.makeWay()
      this.#commits.alone(() => {
        const before = this.#pageCount()
        const pages = this.#room.isScarce ? SCARCE_SHRINK_PAGES : SHRINK_PAGES
        this.#db.exec(`PRAGMA incremental_vacuum(${pages})`)
        given = before - this.#pageCount()
      })
      // The file is cut when the log is brought into it. Not waiting for readers: then the next one does.
      if (given === 0 || this.#room.isScarce) this.#log.checkpoint()
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
    if (!this.#isImmutable) this.#commits.close()
    this.#db.close()
    this.#room.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #gatheringAt(file: string): SqliteGathering {
    const transactions = {
      beforeHolding: () => {
        this.#log.isGrouped = true
      },
      begin: () => {
        this.#log.bound(this.#room.isScarce)
        // IMMEDIATE: a transaction that begins as a reader and then writes fails if anybody wrote in between.
        this.#statements.get('begin').run()
        this.#place.assertThere()
      },
      commit: () => {
        this.#statements.get('commit').run()
      },
      rollback: () => this.#rollback(),
      isCurrent: (batch: Batch) => isCurrent(batch, this.#present),
      apply: (batch: Batch) => this.#apply(batch),
      record: (key: string) => this.readRecord(key),
      changeCount: () => this.#foreignChanges(),
    }
    return new SqliteGathering(file, transactions, this.#room)
  }

  /** A batch that frees is tried once more, with the whole reserve. */
  #add(batch: Batch): boolean {
    const { isHeld } = this.#commits
    try {
      return this.#commits.add(batch)
    } catch (error) {
      if (isHeld || isGrowing(batch) || commitError(error).code !== 'ENOSPC') throw error
      this.#room.release()
      this.#log.checkpoint()
      return this.#commits.add(batch)
    }
  }

  #pageCount(): number {
    return Number(this.#statements.get('pageCount').get()?.['page_count'])
  }

  #foreignChanges(): number {
    return Number(this.#statements.value('changeCount'))
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
      const last = journalId({ vault, seq: Math.min(upTo, LAST_PLACE) })
      run.get('deleteJournal').run(journalId({ vault, seq: 0 }), last)
    }
  }

  #usageOf(name: 'usageOfPages' | 'usageOfBlobs' | 'usageOfJournal'): { count: number; bytes: number } {
    const row = this.#statements.get(name).get()
    return { count: Number(row?.['count']), bytes: Number(row?.['bytes']) }
  }

  #setUp(): void {
    this.#db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    // Chunks need fewer of such pages, and free ones can be given back. To ask that of an old file would be to write.
    const isNew = this.#pageCount() === 0
    const isStore = !isNew && identify(this.#db, this.#file) === 'store'
    if (isNew) this.#db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA auto_vacuum = INCREMENTAL`)
    this.#db.exec('PRAGMA journal_mode = WAL')
    this.#db.exec('PRAGMA cache_size = -16000')
    // Per connection, and silently the default if misspelt: set at every open, and asked back.
    this.#setSynchronous(this.#isFull)
    if (!isStore) this.#makeTables()
  }

  #setUpImmutable(): void {
    this.#db.exec('PRAGMA cache_size = -16000')
    if (identify(this.#db, this.#file) === 'store') return
    const detail = `${this.#file} holds no store yet, and cannot be written`
    throw new VfsError('EROFS', this.#file, { op: 'open', detail })
  }

  /** All or nothing, so that whoever opens it next finds a store or an empty file. */
  #makeTables(): void {
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
  return journalId({ vault, seq: LAST_PLACE })
}

function idsOf(rows: readonly Record<string, unknown>[]): number[] {
  return rows.map((row) => Number(row['id']))
}

function bytesOf(row: Record<string, unknown> | undefined): Uint8Array | undefined {
  return asBytes(row?.['bytes'])
}

function asBytes(value: unknown): Uint8Array | undefined {
  return value instanceof Uint8Array ? value : undefined
}
