import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { makePrivateFile, PRIVATE_DIRECTORY_MODE } from '../machine/index.ts'

const DEFAULT_LIMIT = 1024 ** 3
/** Part of the entries that is removed when the cache is full. */
const EVICTED_PART = 0.1
/** Time after which a read of an entry records its use again. So nearly all reads write nothing. */
const USE_RECORD_INTERVAL_MS = 3_600_000
/** Time that a write waits for other processes; then it is left out. */
const BUSY_TIMEOUT_MS = 20

/** Result codes of SQLite: busy and locked; corrupt and not a database. */
const BUSY = [5, 6]
const DAMAGED = [11, 26]

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY, bytes BLOB NOT NULL, crc INTEGER NOT NULL, used INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS entries_used ON entries (used);
`

export interface LocalCacheOptions {
  readonly file: string
  /**
   * Limit of the file's size in bytes.
   * @default 1 GiB
   */
  readonly limit?: number
}

/** A page or blob. Both have their ids from one sequence, and neither ever changes, so nothing is ever invalidated. */
export interface CacheEntry {
  readonly id: number
  readonly bytes: Uint8Array
}

/**
 * Pages and blobs of a remote home in a file of this machine, shared by all of its processes; the least recently used
 * go first. It is only a copy: a damaged entry counts as missing, and a cache that fails is not used any more.
 */
export class LocalCache implements Disposable {
  readonly #file: string
  readonly #limit: number
  #db: DatabaseSync | undefined
  readonly #statements = new Map<string, StatementSync>()

  constructor({ file, limit = DEFAULT_LIMIT }: LocalCacheOptions) {
    this.#file = file
    this.#limit = limit
    // A damaged file is removed by the first call, and created by the second.
    this.#db = openFile(file) ?? openFile(file)
  }

  /** Removes the file of a cache. Processes that have it open go on with what they have. */
  static remove(file: string): void {
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
  }

  get(id: number): Uint8Array | undefined {
    return this.#attempt(() => {
      const row = this.#prepare('SELECT bytes, crc, used FROM entries WHERE id = ?').get(id)
      if (row === undefined || !(row['bytes'] instanceof Uint8Array)) return undefined
      const { bytes } = row
      if (crc32(bytes) !== row['crc']) return undefined
      if (Date.now() - Number(row['used']) > USE_RECORD_INTERVAL_MS) this.#markUsed(id)
      return bytes
    })
  }

  put(entries: readonly CacheEntry[]): void {
    if (entries.length === 0) return
    this.#attempt(() => {
      this.#prepare('BEGIN IMMEDIATE').run()
      const insert = this.#prepare('INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)')
      for (const { id, bytes } of entries) insert.run(id, bytes, crc32(bytes), Date.now())
      if (this.#measureBytes() > this.#limit) this.#evict()
      this.#prepare('COMMIT').run()
    })
  }

  [Symbol.dispose](): void {
    this.#statements.clear()
    this.#db?.close()
    this.#db = undefined
  }

  /**
   * Runs work on the file. If it is busy, the work is left out; after any other failure the cache is not used any more,
   * and a damaged file is removed.
   */
  #attempt<T>(work: () => T): T | undefined {
    if (this.#db === undefined) return undefined
    try {
      return work()
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      if (!hasErrorCode(error, BUSY)) this[Symbol.dispose]()
      if (hasErrorCode(error, DAMAGED)) LocalCache.remove(this.#file)
      return undefined
    }
  }

  #markUsed(id: number): void {
    this.#attempt(() => this.#prepare('UPDATE entries SET used = ? WHERE id = ?').run(Date.now(), id))
  }

  #evict(): void {
    const count = Number(this.#prepare('SELECT count(*) AS count FROM entries').get()?.['count'])
    const oldest = 'SELECT id FROM entries ORDER BY used, id LIMIT ?'
    this.#prepare(`DELETE FROM entries WHERE id IN (${oldest})`).run(Math.ceil(count * EVICTED_PART))
  }

  /** Returns the size of all pages in use; the file reuses the others. */
  #measureBytes(): number {
    const read = (name: string) => Number(this.#prepare(`PRAGMA ${name}`).get()?.[name])
    return (read('page_count') - read('freelist_count')) * read('page_size')
  }

  #prepare(sql: string): StatementSync {
    const prepared = this.#statements.get(sql)
    if (prepared !== undefined) return prepared
    if (this.#db === undefined) throw new Error('the cache is closed')
    const statement = this.#db.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

/** Opens the file, for its owner alone; undefined if that fails. A damaged one is removed. */
function openFile(file: string): DatabaseSync | undefined {
  let db: DatabaseSync | undefined
  try {
    mkdirSync(dirname(file), { recursive: true, mode: PRIVATE_DIRECTORY_MODE })
    makePrivateFile(file)
    db = new DatabaseSync(file)
    // After power loss, checksums find what is damaged.
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF`)
    db.exec(SCHEMA)
    return db
  } catch (error) {
    db?.close()
    if (hasErrorCode(error, DAMAGED)) LocalCache.remove(file)
    return undefined
  }
}

function hasErrorCode(error: unknown, codes: readonly number[]): boolean {
  // The lowest byte is the result code; the others are its details.
  return error instanceof Error && 'errcode' in error && codes.includes(Number(error.errcode) & 0xff)
}
