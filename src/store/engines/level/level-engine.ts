import { join } from 'node:path'
import { Mutex } from '../../../machine/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import type { Batch, Engine, EngineUsage, JournalRow, MaybePromise, RecordRow, Sweep } from '../../engine.ts'
import { decodeNumberAt } from '../binary-keys.ts'
import { type CommittedState, canCommit, listFirstRows } from '../can-commit.ts'
import { createDiskFullError, DiskSpace } from '../disk-space.ts'
import { getDirectorySize } from '../disk-usage.ts'
import { getErrorMessage, toCommitError } from '../engine-errors.ts'
import { StoreFile } from '../store-file.ts'
import { findLevelDamage } from './level-check.ts'
import { compactAll, getTableBytes, listUnreferencedTables, waitForCompaction } from './level-compaction.ts'
import { type LevelDatabase, openLevelDatabase, WRITE_OPTIONS } from './level-database.ts'
import * as rows from './level-rows.ts'

/** Space for one LevelDB flush: opening a database writes its log as a table. */
const FLUSH_BYTES = 4 * 1024 * 1024
/**
 * Space for a compaction, which writes new tables before it removes the old ones: four of a full log each, and the
 * ten megabytes of the level below. A failed compaction stops all writes until the database is reopened.
 */
const COMPACTION_BYTES = 32 * 1024 * 1024

export interface LevelEngineOptions {
  /** Directory of the database, created if missing. */
  readonly directory: string
  /** True to open a damaged database as far as LevelDB can read it. */
  readonly isDamaged?: boolean
}

/** A home in a LevelDB database, log-structured: cheap writes, compressed, one process at a time. */
export class LevelEngine implements Engine {
  readonly name = 'level'
  readonly #directory: string
  readonly #db: LevelDatabase
  readonly #storeFile: StoreFile
  readonly #diskSpace: DiskSpace
  /** Commits run one after another, so that nothing changes between a batch's checks and its write. */
  readonly #mutex = new Mutex()
  #failure: VfsError | undefined
  #commits = 0
  /** True if a sweep removed rows since the last compaction of all tables. */
  #hasRemovedRows = false
  #closing: Promise<void> | undefined

  private constructor(directory: string, db: LevelDatabase, diskSpace: DiskSpace) {
    this.#diskSpace = diskSpace
    this.#directory = directory
    this.#db = db
    this.#storeFile = new StoreFile(directory)
  }

  /**
   * Opens a home. ENOTSUP if the package `classic-level` is missing, or the store has a format this version does not
   * know or another program's; EUNAVAILABLE if it is open already, here or in another process; EIO if it is damaged.
   */
  static async open({ directory, isDamaged }: LevelEngineOptions): Promise<LevelEngine> {
    const rewriting = () => Math.min(getTableBytes(directory), COMPACTION_BYTES)
    const diskSpace = new DiskSpace(join(directory, 'reserve'), { floor: FLUSH_BYTES, rewriting })
    diskSpace.freeReserveForRewrite()
    return new LevelEngine(directory, await openLevelDatabase(directory, isDamaged), diskSpace)
  }

  readPage(id: number): Uint8Array | undefined {
    return this.#get(rows.pageKey(id))
  }

  readBlob(id: number): Uint8Array | undefined {
    return this.#get(rows.blobKey(id))
  }

  findBlob(hash: Uint8Array): number | undefined {
    const found = this.#get(rows.hashKey(hash))
    return found && decodeNumberAt(found, 0)
  }

  readRecord(key: string): Uint8Array | undefined {
    return this.#get(rows.recordKey(key))
  }

  async listRecords(prefix: string): Promise<RecordRow[]> {
    const found = await this.#db.iterator(rows.getKeyRange('records', prefix)).all()
    return found.map(([key, bytes]) => ({ key: Buffer.from(key).toString('utf8', 1), bytes }))
  }

  /** As `Engine.readJournal`; synchronous unless the journal begins after the first requested row. */
  readJournal(vault: number, after: number, limit: number): MaybePromise<JournalRow[]> {
    const found: JournalRow[] = []
    while (found.length < limit) {
      const seq = after + found.length + 1
      const bytes = this.#get(rows.rowKey({ vault, seq }))
      if (bytes === undefined) break
      found.push({ vault, seq, bytes })
    }
    const isEnd = found.length > 0 || limit <= 0 || this.#hasRow(vault, after)
    return isEnd ? found : this.#seekJournal(vault, after, limit)
  }

  listPages(after: number, limit: number): Promise<number[]> {
    return this.#listIds('pages', rows.pageKey(after), limit)
  }

  listBlobs(after: number, limit: number): Promise<number[]> {
    return this.#listIds('blobs', rows.blobKey(after), limit)
  }

  async usage(): Promise<EngineUsage> {
    return {
      pages: await this.#measureTable('pages'),
      blobs: await this.#measureTable('blobs'),
      journal: await this.#measureTable('journal'),
      totalBytes: getDirectorySize(this.#directory),
    }
  }

  findDamage(): readonly string[] {
    return findLevelDamage(this.#directory)
  }

  changeCount(): number {
    // No other process can have it open.
    return this.#commits
  }

  commit(batch: Batch): Promise<boolean> {
    return this.#mutex.run(() => this.#commitNext(batch))
  }

  /**
   * Compacts all tables, only on a nearly full disk: otherwise LevelDB compacts by itself, and rewriting a large store
   * takes long.
   */
  shrink(): Promise<number> {
    return this.#mutex.run(() => this.#shrinkNow())
  }

  /** Every acknowledged commit is on disk already. */
  sync(): void {}

  close(): Promise<void> {
    this.#closing ??= this.#mutex.run(async () => {
      await this.#db.close()
      this.#storeFile.close()
      this.#diskSpace.close()
    })
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #commitNext(batch: Batch): Promise<boolean> {
    try {
      this.#storeFile.assertPresent()
      await this.#assertSpaceFor(batch)
      if (!(await this.#canCommit(batch))) return false
      const swept = batch.sweep ? await this.#sweep(batch.sweep) : []
      await this.#write([...swept, ...rows.toLevelChanges(batch)])
      this.#hasRemovedRows ||= swept.length > 0
      this.#commits++
      return true
    } catch (error) {
      throw toCommitError(error)
    }
  }

  async #shrinkNow(): Promise<number> {
    this.#diskSpace.freeReserveForRewrite()
    if (!this.#diskSpace.isScarce) return 0
    const before = getTableBytes(this.#directory)
    await this.#compact()
    return Math.max(0, before - getTableBytes(this.#directory))
  }

  /**
   * Throws ENOSPC if the batch does not fit, also after a compaction of what was removed: LevelDB by itself compacts
   * nothing while all writes are refused.
   */
  async #assertSpaceFor(batch: Batch): Promise<void> {
    if (await this.#hasSpaceFor(batch)) return
    if (!this.#hasRemovedRows) throw createDiskFullError()
    await this.#compact()
    if (!(await this.#hasSpaceFor(batch))) throw createDiskFullError()
  }

  /** Reports whether the batch fits. Waits for a running compaction if only its temporary space is missing. */
  async #hasSpaceFor(batch: Batch): Promise<boolean> {
    for (let before = ''; !this.#diskSpace.hasSpaceFor(batch); ) {
      const temporary = listUnreferencedTables(this.#directory, this.#db).join()
      // Tables of a failed compaction stay until the database is reopened.
      if (temporary === before) return false
      before = temporary
      await waitForCompaction(this.#db)
    }
    return true
  }

  /** Rewrites all tables without removed rows. */
  async #compact(): Promise<void> {
    this.#diskSpace.freeReserveForRewrite()
    this.#hasRemovedRows = false
    await compactAll(this.#db)
  }

  async #canCommit(batch: Batch): Promise<boolean> {
    const takenVaults = new Set<number>()
    for (const row of listFirstRows(batch.journal ?? []))
      if (await this.#isRowTaken(row)) takenVaults.add(row.vault)
    const state: CommittedState = {
      record: (key) => this.readRecord(key),
      findBlob: (hash) => this.findBlob(hash),
      isTaken: ({ vault }) => takenVaults.has(vault),
    }
    return canCommit(batch, state)
  }

  /**
   * Writes changes. After a failure, refuses writes until the database is reopened. LevelDB itself stops only after a
   * failed sync. After a failed append it would continue behind half a record, and recovery drops whatever follows one.
   * Reads continue. A batch whose sync failed may exist after a reopen.
   */
  async #write(changes: rows.LevelChange[]): Promise<void> {
    if (this.#failure) {
      const detail = `an earlier commit failed (${getErrorMessage(this.#failure)}); close the home and open it again`
      throw new VfsError(this.#failure.code, '/', { op: 'commit', detail, cause: this.#failure })
    }
    try {
      await this.#db.batch(changes, WRITE_OPTIONS)
    } catch (error) {
      this.#failure = toCommitError(error)
      throw this.#failure
    }
  }

  /** Returns the changes of a sweep. Hashes go before blobs: a blob is removed only if no hash finds it any more. */
  async #sweep({ pages = [], hashes = [], blobs = [], journal = [] }: Sweep): Promise<rows.LevelChange[]> {
    const sweptHashes = hashes.filter(({ hash, blob }) => this.findBlob(hash) === blob)
    const unhashed = new Set(sweptHashes.map(({ hash }) => Buffer.from(hash).toString('hex')))
    const free = blobs.filter(
      ({ hash, blob }) => unhashed.has(Buffer.from(hash).toString('hex')) || this.findBlob(hash) !== blob,
    )
    const changes = [
      ...pages.map((id) => rows.createDelete(rows.pageKey(id))),
      ...sweptHashes.map(({ hash }) => rows.createDelete(rows.hashKey(hash))),
      ...free.map(({ blob }) => rows.createDelete(rows.blobKey(blob))),
    ]
    for (const { vault, upTo } of journal) {
      const gte = rows.rowKey({ vault, seq: 0 })
      const swept = await this.#db.keys({ gte, lte: rows.rowKey({ vault, seq: upTo }) }).all()
      for (const key of swept) changes.push(rows.createDelete(key))
    }
    return changes
  }

  /** Reports whether the journal has this row or a later one. */
  async #isRowTaken({ vault, seq }: JournalRow): Promise<boolean> {
    if (this.#hasRow(vault, seq)) return true
    // Rows have no gaps: no row follows the newest.
    if (this.#hasRow(vault, seq - 1)) return false
    return (await this.#seekJournal(vault, seq, 1)).length > 0
  }

  #hasRow(vault: number, seq: number): boolean {
    return seq > 0 && this.#get(rows.rowKey({ vault, seq })) !== undefined
  }

  async #seekJournal(vault: number, after: number, limit: number): Promise<JournalRow[]> {
    const bounds = { gt: rows.rowKey({ vault, seq: after }), lt: rows.rowKey({ vault: vault + 1, seq: 0 }) }
    const found = await this.#db.iterator({ ...bounds, limit }).all()
    return found.map(([key, bytes]) => ({ vault, seq: decodeNumberAt(key, rows.SEQ_OFFSET), bytes }))
  }

  async #listIds(table: rows.LevelTable, gt: Uint8Array, limit: number): Promise<number[]> {
    const keys = await this.#db.keys({ gt, lt: rows.getKeyRange(table).lt, limit }).all()
    return keys.map((key) => decodeNumberAt(key, rows.ID_OFFSET))
  }

  async #measureTable(table: rows.LevelTable): Promise<{ count: number; bytes: number }> {
    const usage = { count: 0, bytes: 0 }
    // The default read-ahead is 16 KiB, which takes twice as long.
    for await (const value of this.#db.values({ ...rows.getKeyRange(table), highWaterMarkBytes: 2 ** 20 })) {
      usage.count++
      usage.bytes += value.length
    }
    return usage
  }

  #get(key: Uint8Array): Uint8Array | undefined {
    try {
      return this.#db.getSync(key)
    } catch (cause) {
      const detail = `the store could not be read: ${getErrorMessage(cause)}`
      throw new VfsError('EIO', this.#directory, { op: 'read', detail, cause })
    }
  }
}
