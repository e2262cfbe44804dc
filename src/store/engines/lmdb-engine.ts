import type { Database, RootDatabase } from 'lmdb'
import { VfsError } from '../../vfs/index.ts'
import type { Batch, Durability, Engine, JournalRow, RecordRow } from '../engine.ts'

const FORMAT_VERSION = 1
const FORMAT_KEY = Buffer.from('format')
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

type Table = Database<Uint8Array, Uint8Array>

interface Tables {
  readonly meta: Table
  readonly pages: Table
  readonly blobs: Table
  readonly hashes: Table
  readonly journal: Table
  readonly records: Table
}

export interface LmdbEngineOptions {
  /** The directory of the environment, made if it is not there. */
  readonly directory: string
  readonly durability?: Durability
}

/** A home in an LMDB environment: memory-mapped reads, one writer at a time over all processes. */
export class LmdbEngine implements Engine {
  readonly name = 'lmdb'
  readonly #root: RootDatabase<Uint8Array, Uint8Array>
  readonly #tables: Tables
  readonly #abort: object
  readonly #isFull: boolean
  #closing: Promise<void> | undefined

  private constructor(root: RootDatabase<Uint8Array, Uint8Array>, abort: object, isFull: boolean) {
    this.#root = root
    this.#abort = abort
    this.#isFull = isFull
    this.#tables = tablesOf(root)
  }

  /** ENOTSUP: the package `lmdb` is missing, or the store has a format this version does not know. */
  static async open({ directory, durability = 'process' }: LmdbEngineOptions): Promise<LmdbEngine> {
    const { open, ABORT } = await loadLmdb(directory)
    const root = open<Uint8Array, Uint8Array>(directory, {
      encoding: 'binary',
      keyEncoding: 'binary',
      // A directory even if its name has an extension.
      noSubdir: false,
      noSync: false,
      overlappingSync: false,
    })
    try {
      assertFormat(root, directory)
      return new LmdbEngine(root, ABORT, durability === 'full')
    } catch (error) {
      await root.close()
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

  changeCount(): number {
    // The library reads one snapshot until the end of the turn: another process' commit would stay unseen until then.
    this.#root.resetReadTxn()
    return this.#count()
  }

  commit(batch: Batch): boolean {
    let isCurrent = false
    const run = () => {
      isCurrent = this.#isCurrent(batch)
      if (!isCurrent) return this.#abort
      this.#apply(batch)
      return undefined
    }
    this.#transaction(run, this.#isFull || batch.durable === true)
    return isCurrent
  }

  sync(): void {
    // A durable commit flushes the whole file. It must write something: an empty transaction flushes nothing.
    this.#transaction(() => this.#tables.meta.putSync(COUNT_KEY, idKey(this.#count() + 1)), true)
  }

  close(): Promise<void> {
    this.#closing ??= this.#root.close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #transaction(run: () => unknown, isDurable: boolean): void {
    const flags: number = isDurable ? DURABLE : PROCESS
    try {
      this.#root.transactionSync(run, flags)
    } catch (error) {
      throw engineError(error)
    }
  }

  #count(): number {
    const found = this.#tables.meta.getBinary(COUNT_KEY)
    return found === undefined ? 0 : numberAt(found, 0)
  }

  #isCurrent({ expect = [], journal = [] }: Batch): boolean {
    // Rows of a vault are contiguous: if the first place is free, so are those behind it.
    const firsts = new Map(journal.toReversed().map((row) => [row.vault, row]))
    return (
      expect.every((row) => this.#isAsExpected(row)) &&
      [...firsts.values()].every((row) => !this.#tables.journal.doesExist(journalKey(row)))
    )
  }

  #isAsExpected({ key, bytes }: RecordRow): boolean {
    const found = this.#tables.records.getBinary(Buffer.from(key))
    if (found === undefined || bytes === null) return found === undefined && bytes === null
    return Buffer.compare(found, bytes) === 0
  }

  #apply(batch: Batch): void {
    const { meta, pages, blobs, hashes, journal, records } = this.#tables
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
}

async function loadLmdb(directory: string): Promise<typeof import('lmdb')> {
  try {
    return await import('lmdb')
  } catch (cause) {
    const detail = 'the LMDB engine needs the package lmdb: npm install lmdb'
    throw new VfsError('ENOTSUP', directory, { op: 'open', detail, cause })
  }
}

function openTable(root: RootDatabase<Uint8Array, Uint8Array>, name: string): Table {
  return root.openDB(name, { encoding: 'binary', keyEncoding: 'binary' })
}

function tablesOf(root: RootDatabase<Uint8Array, Uint8Array>): Tables {
  return {
    meta: openTable(root, 'meta'),
    pages: openTable(root, 'pages'),
    blobs: openTable(root, 'blobs'),
    hashes: openTable(root, 'hashes'),
    journal: openTable(root, 'journal'),
    records: openTable(root, 'records'),
  }
}

/** Before any other table is opened: opening one makes it, and an unknown store is left as it is. */
function assertFormat(root: RootDatabase<Uint8Array, Uint8Array>, directory: string): void {
  const meta = openTable(root, 'meta')
  const found = root.transactionSync(() => {
    const bytes = meta.getBinary(FORMAT_KEY)
    if (bytes !== undefined) return numberAt(bytes, 0)
    meta.putSync(FORMAT_KEY, idKey(FORMAT_VERSION))
    return FORMAT_VERSION
  })
  if (found === FORMAT_VERSION) return
  const detail = `the store has format ${found}, this version knows ${FORMAT_VERSION}; update coppice`
  throw new VfsError('ENOTSUP', directory, { op: 'open', detail })
}

/** Eight bytes, big-endian, so that the order of bytes is the order of numbers. */
function idKey(id: number): Buffer {
  const key = Buffer.allocUnsafe(8)
  key.writeBigUInt64BE(BigInt(id))
  return key
}

function journalKey({ vault, seq }: Pick<JournalRow, 'vault' | 'seq'>): Buffer {
  return Buffer.concat([idKey(vault), idKey(seq)])
}

function numberAt(bytes: Uint8Array, offset: number): number {
  return Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(offset))
}

function engineError(cause: unknown): VfsError {
  const message = cause instanceof Error ? cause.message : String(cause)
  const code = /MAP_FULL|No space left|ENOSPC/i.test(message) ? 'ENOSPC' : 'EIO'
  return new VfsError(code, '/', { op: 'commit', detail: `the store could not commit: ${message}`, cause })
}
