import { join } from 'node:path'
import { makePrivateDirectory, makePrivateFile } from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'
import type { Batch, Durability, Engine, EngineUsage, JournalRow, RecordRow, Sweep } from '../engine.ts'
import { FileBoard } from '../sessions/file-board.ts'
import { isCurrent, type Present } from './batch-checks.ts'
import { directorySize, roomLeft } from './directory-size.ts'
import { DiskRoom } from './disk-room.ts'
import { commitError } from './engine-errors.ts'
import { idKey, journalKey, numberAt } from './keys.ts'
import { assertSound, findDamage } from './lmdb-check.ts'
import {
  assertKnown,
  freeBytes,
  loadLmdb,
  type Root,
  type Table,
  type Tables,
  tablesOf,
  usageOf,
} from './lmdb-tables.ts'
import { OpenMark, removeMarks } from './open-mark.ts'
import { StorePlace } from './store-place.ts'

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
const DURABLE = 0x3
const PROCESS = 0x3 | 0x40000

const DISK_FAILED = /Input\/output|Write error|spill|PANIC/i
/** A commit that fails with no more room than this has failed for want of it. */
const SCARCE_BYTES = 1024 * 1024

export interface LmdbEngineOptions {
  /** The directory of the environment, made if it is not there. */
  readonly directory: string
  readonly durability?: Durability
  /** The environment is only read, and nothing is made in its directory. */
  readonly isReadOnly?: boolean
}

/** A home in an LMDB environment: memory-mapped reads, one writer at a time over all processes. */
export class LmdbEngine implements Engine {
  readonly name = 'lmdb'
  readonly answersAtOnce = true
  readonly board: FileBoard
  readonly #directory: string
  readonly #root: Root
  readonly #tables: Tables
  readonly #abort: object
  readonly #isFull: boolean
  readonly #place: StorePlace
  readonly #room: DiskRoom
  readonly #mark: OpenMark | undefined
  /** As the transaction sees it that asks: no read begins a new snapshot. */
  readonly #present: Present = {
    record: (key) => this.#tables.records.getBinary(Buffer.from(key)),
    blobOf: (hash) => this.findBlob(hash),
    isTaken: (row) => this.#journalKeys(row, Number.MAX_SAFE_INTEGER, 1).length > 0,
  }
  #closing: Promise<void> | undefined
  /** Why nothing is committed any more, until the home is opened again. */
  #failure: VfsError | undefined

  private constructor(
    { directory, durability = 'process' }: LmdbEngineOptions,
    root: Root,
    abort: object,
    { room, mark }: { readonly room: DiskRoom; readonly mark: OpenMark | undefined },
  ) {
    this.#room = room
    this.#mark = mark
    this.#directory = directory
    this.board = new FileBoard(join(directory, 'sessions'))
    this.#root = root
    this.#abort = abort
    this.#isFull = durability === 'full'
    this.#tables = tablesOf(root)
    this.#place = new StorePlace(join(directory, 'data.mdb'))
  }

  /** ENOTSUP: the package `lmdb` is missing, or the store has a format this version does not know. */
  static async open(options: LmdbEngineOptions): Promise<LmdbEngine> {
    const { directory, isReadOnly = false } = options
    const { open, ABORT } = await loadLmdb(directory)
    const marks = join(directory, 'open')
    const leftovers = OpenMark.findLeftovers(marks)
    // A page behind those that every open looks at may have ended whoever left one.
    assertSound(join(directory, 'data.mdb'), leftovers.length > 0)
    if (!isReadOnly) {
      makePrivateDirectory(directory)
      for (const name of ['data.mdb', 'lock.mdb']) makePrivateFile(join(directory, name))
    }
    const room = new DiskRoom(join(directory, 'reserve'))
    if (!isReadOnly) room.makeWay()
    if (!isReadOnly) removeMarks(leftovers)
    const mark = isReadOnly ? undefined : OpenMark.make(marks)
    const root = open<Uint8Array, Uint8Array>(directory, {
      encoding: 'binary',
      keyEncoding: 'binary',
      // A directory even if its name has an extension.
      noSubdir: false,
      noSync: false,
      overlappingSync: false,
      readOnly: isReadOnly,
    })
    try {
      assertKnown(root, directory, isReadOnly)
      return new LmdbEngine(options, root, ABORT, { room, mark })
    } catch (error) {
      await root.close()
      mark?.[Symbol.dispose]()
      throw error
    }
  }

  readPage(id: number): Uint8Array | undefined {
    return this.#tables.pages.getBinary(idKey(id))
  }

  readBlob(id: number): Uint8Array | undefined {
    return this.#tables.blobs.getBinary(idKey(id))
  }

  findBlob(hash: Uint8Array): number | undefined {
    if (hash.length === 0) return undefined
    const found = this.#tables.hashes.getBinary(hash)
    return found && numberAt(found, 0)
  }

  readRecord(key: string): Uint8Array | undefined {
    this.#root.resetReadTxn()
    return this.#tables.records.getBinary(Buffer.from(key))
  }

  listRecords(prefix: string): RecordRow[] {
    this.#root.resetReadTxn()
    const start = Buffer.from(prefix)
    // No byte of UTF-8 is 0xff, so this is behind every key that goes on from the prefix.
    const end = Buffer.concat([start, Buffer.of(0xff)])
    const range = this.#tables.records.getRange(prefix === '' ? { end } : { start, end })
    return Array.from(range, ({ key, value }) => ({ key: Buffer.from(key).toString(), bytes: value }))
  }

  readJournal(vault: number, after: number, limit: number): JournalRow[] {
    this.#root.resetReadTxn()
    const start = journalKey({ vault, seq: after + 1 })
    const range = this.#tables.journal.getRange({
      start,
      end: journalKey({ vault: vault + 1, seq: 0 }),
      limit,
    })
    return Array.from(range, ({ key, value }) => ({ vault, seq: numberAt(key, 8), bytes: value }))
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
      pages: usageOf(pages),
      blobs: usageOf(blobs),
      journal: usageOf(journal),
      totalBytes: directorySize(this.#directory),
    }
  }

  findDamage(): readonly string[] {
    return findDamage(join(this.#directory, 'data.mdb'))
  }

  roomLeft(): number {
    return roomLeft(this.#directory)
  }

  changeCount(): number {
    // The library reads one snapshot until the end of the turn: another process' commit would stay unseen until then.
    this.#root.resetReadTxn()
    return this.#count()
  }

  commit(batch: Batch): boolean {
    let isAccepted = false
    const run = () => {
      isAccepted = isCurrent(batch, this.#present)
      if (!isAccepted) return this.#abort
      this.#apply(batch)
      return undefined
    }
    // The half of what is free: it is scattered, and some of it waits for readers.
    this.#room.admit(batch, () => freeBytes(this.#root, this.#tables) / 2)
    this.#transaction(run, this.#isFull || batch.durable === true)
    return isAccepted
  }

  sync(): void {
    // A durable commit flushes the whole file. It must write something: an empty transaction flushes nothing.
    this.#transaction(() => this.#tables.meta.putSync(COUNT_KEY, idKey(this.#count() + 1)), true)
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #closeAll(): Promise<void> {
    using _mark = this.#mark
    await this.#root.close()
    this.#room.close()
  }

  #transaction(run: () => unknown, isDurable: boolean): void {
    if (this.#failure !== undefined) throw this.#failure
    this.#place.assertThere()
    const flags: number = isDurable ? DURABLE : PROCESS
    try {
      this.#root.transactionSync(run, flags)
    } catch (error) {
      const failure = this.#failureOf(error)
      // After a failed write the library would go on with pages it believes are there.
      if (DISK_FAILED.test(failure.message)) this.#failure = failure
      throw failure
    }
  }

  /** A disk that is full is told as a failed write here: the room that is left tells the two apart. */
  #failureOf(error: unknown): VfsError {
    const failure = commitError(error)
    if (failure.code !== 'EIO' || roomLeft(this.#directory) > SCARCE_BYTES) return failure
    return new VfsError('ENOSPC', '/', { op: 'commit', detail: 'the disk is full; make room', cause: error })
  }

  #count(): number {
    const found = this.#tables.meta.getBinary(COUNT_KEY)
    return found === undefined ? 0 : numberAt(found, 0)
  }

  #listIds(table: Table, after: number, limit: number): number[] {
    this.#root.resetReadTxn()
    return Array.from(table.getKeys({ start: idKey(after + 1), limit }), (key) => numberAt(key, 0))
  }

  /** Keys of a vault's journal from one place to another, that one included. */
  #journalKeys(
    { vault, seq }: Pick<JournalRow, 'vault' | 'seq'>,
    upTo: number,
    limit = Number.MAX_SAFE_INTEGER,
  ): Uint8Array[] {
    const start = journalKey({ vault, seq })
    const end = journalKey({ vault, seq: upTo + 1 })
    return Array.from(this.#tables.journal.getKeys({ start, end, limit }))
  }

  #apply(batch: Batch): void {
    const { meta, pages, blobs, hashes, journal, records } = this.#tables
    if (batch.sweep) this.#sweep(batch.sweep)
    for (const { id, bytes } of batch.blobs ?? []) blobs.putSync(idKey(id), bytes)
    for (const { id, hash } of batch.blobs ?? []) if (hash.length > 0) hashes.putSync(hash, idKey(id))
    for (const { id, bytes } of batch.pages ?? []) pages.putSync(idKey(id), bytes)
    for (const row of batch.journal ?? []) journal.putSync(journalKey(row), row.bytes)
    for (const { key, bytes } of batch.records ?? []) {
      if (bytes === null) records.removeSync(Buffer.from(key))
      else records.putSync(Buffer.from(key), bytes)
    }
    meta.putSync(COUNT_KEY, idKey(this.#count() + 1))
  }

  /** Hashes before blobs: a blob goes only if no hash leads to it any more. */
  #sweep(sweep: Sweep): void {
    const { pages, blobs, hashes, journal } = this.#tables
    for (const id of sweep.pages ?? []) pages.removeSync(idKey(id))
    for (const { hash, blob } of sweep.hashes ?? []) if (this.findBlob(hash) === blob) hashes.removeSync(hash)
    for (const { hash, blob } of sweep.blobs ?? []) {
      if (this.findBlob(hash) !== blob) blobs.removeSync(idKey(blob))
    }
    for (const { vault, upTo } of sweep.journal ?? []) {
      for (const key of this.#journalKeys({ vault, seq: 0 }, upTo)) journal.removeSync(key)
    }
  }
}
