import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makePrivateFile } from '../../../machine/index.ts'
import type {
  Batch,
  Durability,
  Engine,
  EngineUsage,
  GroupCommit,
  JournalRow,
  RecordRow,
} from '../../engine.ts'
import { SqliteGroupCommit } from '../../group-commit/sqlite-group-commit.ts'
import { FileSegments } from '../../segments/file-segments.ts'
import { FileSessionRegistry } from '../../sessions/file-session-registry.ts'
import { type CommittedState, canCommit } from '../can-commit.ts'
import { DiskSpace, getBatchSize, isGrowing } from '../disk-space.ts'
import { getDiskFreeBytes, sumFileSizes } from '../disk-usage.ts'
import { toCommitError } from '../engine-errors.ts'
import { StoreFile } from '../store-file.ts'
import { DELTA_FORMAT } from '../store-format.ts'
import { applyBatch } from './sqlite-batch.ts'
import { SqliteFormat } from './sqlite-format.ts'
import { assertOwnLog } from './sqlite-identity.ts'
import { toJournalKey, toLastJournalKey } from './sqlite-journal-key.ts'
import { findOnlyRow, SqliteRowCommit } from './sqlite-row-commit.ts'
import { openImmutable, readPageBytes, setSynchronous, setUpImmutable, setUpStore } from './sqlite-setup.ts'
import { SqliteStatements } from './sqlite-statements.ts'
import { SqliteWal } from './sqlite-wal.ts'

/** Number of pages that one transaction of `shrink` frees: other writers wait no longer than for a commit. */
const SHRINK_PAGES = 256
/** The same on a nearly full disk: the log gets each moved page and the pages that refer to it. */
const SCARCE_SHRINK_PAGES = 32
/** Replaces a value that is damaged and no longer a blob; decoding it reports the damage. */
const NO_BYTES = new Uint8Array(0)

export interface SqliteEngineOptions {
  readonly file: string
  /**
   * `relaxed` is the same as `process`: with fewer syncs, power loss could damage the file.
   * @default 'process'
   */
  readonly durability?: Durability
  /** True to only read the file and create nothing beside it. Changes in a log beside it are ignored. */
  readonly isImmutable?: boolean
  /**
   * Directory of large content.
   * @default `${file}-segments`
   */
  readonly segments?: string
}

/** A home in one SQLite file, in WAL mode. The default: it needs no package, and any SQLite tool can read it. */
export class SqliteEngine implements Engine {
  readonly name = 'sqlite'
  readonly isSync = true
  readonly storesDeltas = true
  readonly sessionRegistry: FileSessionRegistry
  readonly segments: FileSegments
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
      this.#statements.get('hasJournal').get(toJournalKey(row), toLastJournalKey(row.vault)) !== undefined,
  }
  readonly #groupCommit: SqliteGroupCommit
  readonly #diskSpace: DiskSpace
  readonly #wal: SqliteWal
  readonly #rowCommit: SqliteRowCommit
  /** Change count of the snapshot that reads see, while they run together. */
  #snapshotChanges: number | undefined
  readonly #format: SqliteFormat
  #isClosed = false

  constructor({
    file,
    durability = 'process',
    isImmutable = false,
    segments = `${file}-segments`,
  }: SqliteEngineOptions) {
    this.#file = file
    this.#isImmutable = isImmutable
    // Created before SQLite does it: its log files copy the permissions.
    if (!isImmutable && !makePrivateFile(file)) assertOwnLog(file)
    this.sessionRegistry = new FileSessionRegistry(`${file}-sessions`)
    // Opening a store writes a little. On a full disk, SQLite's memory-mapped file would end the process.
    this.#diskSpace = new DiskSpace(`${file}-reserve`)
    if (!isImmutable) this.#diskSpace.freeReserve()
    this.segments = new FileSegments(segments, {
      assertSpace: (bytes) => this.#diskSpace.assertSpaceForBytes(bytes),
    })
    this.#db = isImmutable ? openImmutable(file) : new DatabaseSync(file)
    this.#wal = new SqliteWal(this.#db, file)
    this.#rowCommit = new SqliteRowCommit(this.#db)
    this.#storeFile = new StoreFile(file)
    this.#isFullyDurable = durability === 'full'
    this.#statements = new SqliteStatements(this.#db)
    this.#format = new SqliteFormat(this.#db, this.#statements, file)
    this.#groupCommit = this.#createGroupCommit(file)
    try {
      if (isImmutable) setUpImmutable(this.#db, file)
      else {
        setUpStore(this.#db, file, this.#isFullyDurable)
        this.#wal.limitSize(false)
        this.#groupCommit.recover()
      }
    } catch (error) {
      this.#db.close()
      this.#storeFile.close()
      throw error
    }
  }

  /** Absent with full durability: each commit is synced on its own. */
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
    const from = toJournalKey({ vault, seq: after + 1 })
    const rows = this.#statements
      .get('readJournal')
      .all(toJournalKey({ vault, seq: 0 }), from, toLastJournalKey(vault), limit)
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
    return this.#snapshotChanges ?? this.#readChangeCount()
  }

  /** Runs work in a read transaction: without one, SQLite locks and unlocks its file for each row. */
  readTogether<T>(work: () => T): T {
    if (this.#isImmutable || this.#snapshotChanges !== undefined || this.#groupCommit.isActive) return work()
    this.#statements.get('beginRead').run()
    try {
      this.#snapshotChanges = this.#readChangeCount()
      return work()
    } finally {
      this.#endSnapshot()
    }
  }

  commit(batch: Batch): boolean {
    const mustSync = batch.durable === true && !this.#isFullyDurable
    this.#endSnapshot()
    try {
      if (mustSync) setSynchronous(this.#db, this.#file, true)
      return this.#commitOrUseReserve(batch)
    } catch (error) {
      throw toCommitError(error)
    } finally {
      if (mustSync) this.#db.exec('PRAGMA synchronous = NORMAL')
    }
  }

  shrink(): number {
    try {
      let freedPages = 0
      this.#diskSpace.freeReserve()
      this.#groupCommit.runExclusively(() => {
        const before = this.#readPageCount()
        const pages = this.#diskSpace.isScarce ? SCARCE_SHRINK_PAGES : SHRINK_PAGES
        this.#db.exec(`PRAGMA incremental_vacuum(${pages})`)
        freedPages = before - this.#readPageCount()
      })
      // A checkpoint of the log truncates the file. If readers prevent it, a later one does.
      if (freedPages === 0) this.#wal.truncate()
      else if (this.#diskSpace.isScarce) this.#wal.checkpoint()
      return freedPages * readPageBytes(this.#db)
    } catch (error) {
      throw toCommitError(error)
    }
  }

  sync(): void {
    // Syncs the whole log, with all earlier commits of every process.
    this.commit({ durable: true })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.segments.close()
    if (!this.#isImmutable) this.#groupCommit.close()
    await this.#wal.close()
    this.#db.close()
    this.#storeFile.close()
    this.#diskSpace.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #createGroupCommit(file: string): SqliteGroupCommit {
    const transactions = {
      begin: () => {
        this.#endSnapshot()
        this.#wal.limitSize(this.#diskSpace.isScarce)
        // IMMEDIATE: a transaction that starts with a read fails at its first write if another process wrote meanwhile.
        this.#statements.get('begin').run()
        this.#storeFile.assertPresent()
      },
      raiseFormat: () => this.#format.raise(DELTA_FORMAT),
      commit: () => {
        this.#statements.get('commit').run()
      },
      rollback: () => this.#rollback(),
      isCurrent: (batch: Batch) => canCommit(batch, this.#committedState),
      apply: (batch: Batch) => {
        applyBatch(this.#statements, this.#format, batch)
        this.#wal.addCommitted(getBatchSize(batch))
      },
      commitRow: (batch: Batch) => this.#commitRow(batch),
      record: (key: string) => this.readRecord(key),
      changeCount: () => this.#readDataVersion(),
    }
    return new SqliteGroupCommit(file, transactions, this.#diskSpace)
  }

  /** Commits a batch; repeats one that frees space with the whole reserve. */
  #commitOrUseReserve(batch: Batch): boolean {
    const { isActive } = this.#groupCommit
    try {
      return this.#groupCommit.commitBatch(batch)
    } catch (error) {
      if (isActive || isGrowing(batch) || toCommitError(error).code !== 'ENOSPC') throw error
      this.#diskSpace.releaseReserve()
      this.#wal.checkpoint()
      return this.#groupCommit.commitBatch(batch)
    }
  }

  /**
   * Commits a batch of one row in one call. Undefined, and nothing done, if the batch has more, the disk is nearly full
   * or the store has the token of a side log.
   */
  #commitRow(batch: Batch): boolean | undefined {
    const row = findOnlyRow(batch)
    if (row === undefined || this.#diskSpace.isScarce) return undefined
    if (batch.blobs?.[0] !== undefined && !this.#format.isRaisedFor(batch.blobs)) return undefined
    this.#storeFile.assertPresent()
    this.#wal.restartIfLong()
    const blob = batch.blobs?.[0]
    const result = this.#rowCommit.commit(row, blob)
    this.#wal.addCommitted(row.bytes.length + (blob?.bytes.length ?? 0))
    return result === 'side-log-exists' ? undefined : result === 'committed'
  }

  #readPageCount(): number {
    return Number(this.#statements.get('pageCount').get()?.['page_count'])
  }

  /** Both numbers only grow. */
  #readChangeCount(): number {
    return this.#readDataVersion() + this.#groupCommit.replays
  }

  #readDataVersion(): number {
    return Number(this.#statements.getValue('changeCount'))
  }

  #endSnapshot(): void {
    if (this.#snapshotChanges === undefined) return
    this.#snapshotChanges = undefined
    this.#rollback()
  }

  #rollback(): void {
    this.#snapshotChanges = undefined
    try {
      this.#statements.get('rollback').run()
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full, or it never began.
    }
  }

  #measureTable(name: 'usageOfPages' | 'usageOfBlobs' | 'usageOfJournal'): { count: number; bytes: number } {
    const row = this.#statements.get(name).get()
    return { count: Number(row?.['count']), bytes: Number(row?.['bytes']) }
  }
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
