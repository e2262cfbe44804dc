import { join } from 'node:path'
import { makePrivateDirectory, makePrivateFile } from '../../../machine/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import type { Batch, Durability, Engine, EngineUsage, JournalRow, RecordRow, Sweep } from '../../engine.ts'
import { FileSegments } from '../../segments/file-segments.ts'
import { FileSessionRegistry } from '../../sessions/file-session-registry.ts'
import { decodeNumberAt, encodeIdKey, encodeJournalKey } from '../binary-keys.ts'
import { type CommittedState, canCommit } from '../can-commit.ts'
import { DiskSpace } from '../disk-space.ts'
import { getDirectorySize, getDiskFreeBytes } from '../disk-usage.ts'
import { toCommitError } from '../engine-errors.ts'
import { OpenMarker, removeMarkers } from '../open-marker.ts'
import { StoreFile } from '../store-file.ts'
import { getNeededFormat } from '../store-format.ts'
import { assertIntact, findDamage } from './lmdb-check.ts'
import {
  assertKnownFormat,
  assertOwnFormat,
  getFreePageBytes,
  type LmdbRoot,
  type LmdbTable,
  type LmdbTables,
  loadLmdb,
  measureTable,
  openTables,
  raiseFormat,
  SEGMENT_DIRECTORY,
} from './lmdb-tables.ts'

const COUNT_KEY = Buffer.from('commits')

/**
 * Flags of one transaction. Abortable, committed before it returns, and:
 * - on disk, data and the page that makes them current, before it is acknowledged;
 * - data on disk, that page only written: it survives any process, and power loss takes back no more than the last
 *   commit.
 *
 * Not NOSYNC (0x10000), though it is several times faster: pages then reach the disk in any order, and power loss may
 * tear the whole store, the checkpoints acknowledged as durable included. Not `overlappingSync`, the library's default:
 * a failed flush is then reported after the commit can be seen, and `safeRestore`, which it needs to be safe, forgets
 * acknowledged commits when a process is killed.
 */
const DURABLE_FLAGS = 0x3
const PROCESS_FLAGS = 0x3 | 0x40000

const DISK_FAILURE_PATTERN = /Input\/output|No space left|Write error|spill|PANIC/i
/** A commit that fails with less free space than this failed for lack of it. */
const SCARCE_BYTES = 1024 * 1024

export interface LmdbEngineOptions {
  /** Directory of the environment, created if missing. */
  readonly directory: string
  readonly durability?: Durability
  /** True to only read the environment and create nothing in its directory. */
  readonly isReadOnly?: boolean
}

/** A home in an LMDB environment: memory-mapped reads, one writer at a time over all processes. */
export class LmdbEngine implements Engine {
  readonly name = 'lmdb'
  readonly isSync = true
  readonly storesDeltas = true
  readonly sessionRegistry: FileSessionRegistry
  readonly segments: FileSegments
  readonly #directory: string
  readonly #root: LmdbRoot
  readonly #tables: LmdbTables
  readonly #abort: object
  readonly #isFullyDurable: boolean
  readonly #storeFile: StoreFile
  readonly #diskSpace: DiskSpace
  readonly #openMarker: OpenMarker | undefined
  /** Reads in the running transaction: no read begins a new snapshot. */
  readonly #committedState: CommittedState = {
    record: (key) => this.#tables.records.getBinary(Buffer.from(key)),
    findBlob: (hash) => this.findBlob(hash),
    isTaken: (row) => this.#listJournalKeys(row, Number.MAX_SAFE_INTEGER, 1).length > 0,
  }
  #closing: Promise<void> | undefined
  /** Failure that stops all commits until the home is reopened. */
  #failure: VfsError | undefined

  private constructor(
    { directory, durability = 'process' }: LmdbEngineOptions,
    root: LmdbRoot,
    abort: object,
    { diskSpace, openMarker }: { readonly diskSpace: DiskSpace; readonly openMarker: OpenMarker | undefined },
  ) {
    this.#diskSpace = diskSpace
    this.#openMarker = openMarker
    this.#directory = directory
    this.sessionRegistry = new FileSessionRegistry(join(directory, 'sessions'))
    this.segments = new FileSegments(join(directory, SEGMENT_DIRECTORY), {
      assertSpace: (bytes) => diskSpace.assertSpaceForBytes(bytes),
    })
    this.#root = root
    this.#abort = abort
    this.#isFullyDurable = durability === 'full'
    this.#tables = openTables(root)
    this.#storeFile = new StoreFile(join(directory, 'data.mdb'))
  }

  /**
   * Opens a home. ENOTSUP if the package `lmdb` is missing, or the store has a format this version does not know or is
   * another program's; EIO if it is damaged.
   */
  static async open(options: LmdbEngineOptions): Promise<LmdbEngine> {
    const { directory, isReadOnly = false } = options
    const { open, ABORT } = await loadLmdb(directory)
    const markers = join(directory, 'open')
    const leftovers = OpenMarker.findLeftovers(markers)
    // A damaged page beyond those that every open checks may have killed the process that left one.
    assertIntact(join(directory, 'data.mdb'), leftovers.length > 0)
    if (!isReadOnly) {
      makePrivateDirectory(directory)
      for (const name of ['data.mdb', 'lock.mdb']) makePrivateFile(join(directory, name))
    }
    const diskSpace = new DiskSpace(join(directory, 'reserve'))
    if (!isReadOnly) diskSpace.freeReserve()
    if (!isReadOnly) removeMarkers(leftovers)
    const openMarker = isReadOnly ? undefined : OpenMarker.create(markers)
    let root: LmdbRoot | undefined
    try {
      root = open<Uint8Array, Uint8Array>(directory, {
        encoding: 'binary',
        keyEncoding: 'binary',
        // Forces a directory even if its name has an extension.
        noSubdir: false,
        noSync: false,
        overlappingSync: false,
        readOnly: isReadOnly,
      })
      assertOwnFormat(root, directory, isReadOnly)
      return new LmdbEngine(options, root, ABORT, { diskSpace, openMarker })
    } catch (error) {
      await root?.close()
      openMarker?.[Symbol.dispose]()
      throw error
    }
  }

  readPage(id: number): Uint8Array | undefined {
    return this.#tables.pages.getBinary(encodeIdKey(id))
  }

  readBlob(id: number): Uint8Array | undefined {
    return this.#tables.blobs.getBinary(encodeIdKey(id))
  }

  findBlob(hash: Uint8Array): number | undefined {
    if (hash.length === 0) return undefined
    const found = this.#tables.hashes.getBinary(hash)
    return found && decodeNumberAt(found, 0)
  }

  readRecord(key: string): Uint8Array | undefined {
    this.#root.resetReadTxn()
    return this.#tables.records.getBinary(Buffer.from(key))
  }

  listRecords(prefix: string): RecordRow[] {
    this.#root.resetReadTxn()
    const start = Buffer.from(prefix)
    // UTF-8 never contains 0xff, so this sorts after every key with the prefix.
    const end = Buffer.concat([start, Buffer.of(0xff)])
    const range = this.#tables.records.getRange(prefix === '' ? { end } : { start, end })
    return Array.from(range, ({ key, value }) => ({ key: Buffer.from(key).toString(), bytes: value }))
  }

  readJournal(vault: number, after: number, limit: number): JournalRow[] {
    this.#root.resetReadTxn()
    const start = encodeJournalKey({ vault, seq: after + 1 })
    const range = this.#tables.journal.getRange({
      start,
      end: encodeJournalKey({ vault: vault + 1, seq: 0 }),
      limit,
    })
    return Array.from(range, ({ key, value }) => ({ vault, seq: decodeNumberAt(key, 8), bytes: value }))
  }

  listPages(after: number, limit: number): number[] {
    return this.#listIds(this.#tables.pages, after, limit)
  }

  listBlobs(after: number, limit: number): number[] {
    return this.#listIds(this.#tables.blobs, after, limit)
  }

  usage(): EngineUsage {
    this.#root.resetReadTxn()
    const { pages, blobs, journal } = this.#tables
    return {
      pages: measureTable(pages),
      blobs: measureTable(blobs),
      journal: measureTable(journal),
      totalBytes: getDirectorySize(this.#directory),
    }
  }

  findDamage(): readonly string[] {
    return findDamage(join(this.#directory, 'data.mdb'))
  }

  getFreeBytes(): number {
    return getDiskFreeBytes(this.#directory)
  }

  changeCount(): number {
    // The library reads one snapshot until the end of the turn: it would miss commits of other processes.
    this.#root.resetReadTxn()
    return this.#readCommitCount()
  }

  commit(batch: Batch): boolean {
    let isAccepted = false
    const run = () => {
      isAccepted = canCommit(batch, this.#committedState)
      if (!isAccepted) return this.#abort
      this.#apply(batch)
      return undefined
    }
    // Half of the free pages: they are scattered, and some wait for readers.
    this.#diskSpace.assertSpaceFor(batch, () => getFreePageBytes(this.#root, this.#tables) / 2)
    this.#runTransaction(run, this.#isFullyDurable || batch.durable === true)
    return isAccepted
  }

  sync(): void {
    // A durable commit flushes the whole file. It must write something: an empty transaction flushes nothing.
    this.#runTransaction(
      () => this.#tables.meta.putSync(COUNT_KEY, encodeIdKey(this.#readCommitCount() + 1)),
      true,
    )
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #closeAll(): Promise<void> {
    using _marker = this.#openMarker
    this.segments.close()
    await this.#root.close()
    this.#storeFile.close()
    this.#diskSpace.close()
  }

  #runTransaction(run: () => unknown, isDurable: boolean): void {
    if (this.#failure !== undefined) throw this.#failure
    this.#storeFile.assertPresent()
    const flags: number = isDurable ? DURABLE_FLAGS : PROCESS_FLAGS
    try {
      this.#root.transactionSync(run, flags)
    } catch (error) {
      const failure = this.#toCommitFailure(error)
      // After a failed write the library would continue with pages it believes are stored.
      if (DISK_FAILURE_PATTERN.test(failure.message)) this.#failure = failure
      throw failure
    }
  }

  /** Converts a failure. LMDB reports a full disk as a failed write: the free space distinguishes the two. */
  #toCommitFailure(error: unknown): VfsError {
    const failure = toCommitError(error)
    if (failure.code !== 'EIO' || getDiskFreeBytes(this.#directory) > SCARCE_BYTES) return failure
    return new VfsError('ENOSPC', '/', { op: 'commit', detail: 'the disk is full; make room', cause: error })
  }

  #readCommitCount(): number {
    const found = this.#tables.meta.getBinary(COUNT_KEY)
    return found === undefined ? 0 : decodeNumberAt(found, 0)
  }

  #listIds(table: LmdbTable, after: number, limit: number): number[] {
    this.#root.resetReadTxn()
    return Array.from(table.getKeys({ start: encodeIdKey(after + 1), limit }), (key) =>
      decodeNumberAt(key, 0),
    )
  }

  /** Returns the keys of a vault's journal in a range, the end included. */
  #listJournalKeys(
    { vault, seq }: Pick<JournalRow, 'vault' | 'seq'>,
    upTo: number,
    limit = Number.MAX_SAFE_INTEGER,
  ): Uint8Array[] {
    const start = encodeJournalKey({ vault, seq })
    const end = encodeJournalKey({ vault, seq: upTo + 1 })
    return Array.from(this.#tables.journal.getKeys({ start, end, limit }))
  }

  #apply(batch: Batch): void {
    const { meta, pages, blobs, hashes, journal, records } = this.#tables
    if (batch.sweep) this.#sweep(batch.sweep)
    for (const { id, bytes } of batch.blobs ?? []) blobs.putSync(encodeIdKey(id), bytes)
    raiseFormat(this.#tables, getNeededFormat(batch.blobs ?? []))
    for (const { id, hash } of batch.blobs ?? []) if (hash.length > 0) hashes.putSync(hash, encodeIdKey(id))
    for (const { id, bytes } of batch.pages ?? []) pages.putSync(encodeIdKey(id), bytes)
    for (const row of batch.journal ?? []) journal.putSync(encodeJournalKey(row), row.bytes)
    for (const { key, bytes } of batch.records ?? []) {
      if (bytes === null) records.removeSync(Buffer.from(key))
      else records.putSync(Buffer.from(key), bytes)
    }
    meta.putSync(COUNT_KEY, encodeIdKey(this.#readCommitCount() + 1))
  }

  /** Removes swept rows. Hashes go before blobs: a blob is removed only if no hash finds it any more. */
  #sweep(sweep: Sweep): void {
    // A later version may store what this one does not know to be in use.
    assertKnownFormat(this.#tables, this.#directory)
    const { pages, blobs, hashes, journal } = this.#tables
    for (const id of sweep.pages ?? []) pages.removeSync(encodeIdKey(id))
    for (const { hash, blob } of sweep.hashes ?? []) if (this.findBlob(hash) === blob) hashes.removeSync(hash)
    for (const { hash, blob } of sweep.blobs ?? []) {
      if (this.findBlob(hash) !== blob) blobs.removeSync(encodeIdKey(blob))
    }
    for (const { vault, upTo } of sweep.journal ?? []) {
      for (const key of this.#listJournalKeys({ vault, seq: 0 }, upTo)) journal.removeSync(key)
    }
  }
}
