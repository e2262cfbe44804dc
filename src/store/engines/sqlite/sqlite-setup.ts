import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { VfsError } from '../../../vfs/index.ts'
import { FIRST_FORMAT } from '../store-format.ts'
import { APPLICATION_ID, BUSY_TIMEOUT_MS, identifyDatabase } from './sqlite-identity.ts'
import { SCHEMA } from './sqlite-statements.ts'

/**
 * Page size of a new store. A commit of one change writes each page it touches to the log as a whole, so a small page
 * suits it. Stores of earlier versions have pages of 8 KiB.
 */
const PAGE_BYTES = 4096
/** Size of SQLite's page cache; a negative number counts KiB. */
const CACHE_PRAGMA = 'PRAGMA cache_size = -16000'
const RETRY_MS = 5
const SQLITE_BUSY = 5

/** Opens a database that no process changes: SQLite takes no lock and creates no file beside it. */
export function openImmutable(file: string): DatabaseSync {
  const uri = pathToFileURL(file)
  uri.searchParams.set('immutable', '1')
  return new DatabaseSync(uri, { readOnly: true })
}

/**
 * Prepares a store, and retries while SQLite reports busy. SQLite does not wait where two processes switch a new file
 * to WAL mode: both have a shared lock that the other waits for. The second attempt finds the work done.
 */
export function setUpStore(db: DatabaseSync, file: string, isFullyDurable: boolean): void {
  db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  const deadline = performance.now() + BUSY_TIMEOUT_MS
  for (;;) {
    try {
      prepareStore(db, file, isFullyDurable)
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
    }
  }
}

/** Prepares a store that is only read. Throws EROFS if the file has none. */
export function setUpImmutable(db: DatabaseSync, file: string): void {
  db.exec(CACHE_PRAGMA)
  if (identifyDatabase(db, file) === 'store') return
  const detail = `${file} has no store yet and cannot be written; name a home that exists`
  throw new VfsError('EROFS', file, { op: 'open', detail })
}

/**
 * Sets whether each commit is synced. EIO if SQLite does not accept it. Not a prepared statement: that would take
 * effect when it is prepared.
 */
export function setSynchronous(db: DatabaseSync, file: string, isFull: boolean): void {
  db.exec(`PRAGMA synchronous = ${isFull ? 'FULL' : 'NORMAL'}`)
  const level = db.prepare('PRAGMA synchronous').get()?.['synchronous']
  if (level !== (isFull ? 2 : 1))
    throw new VfsError('EIO', file, { op: 'open', detail: 'SQLite did not accept the sync mode' })
}

/** Returns the page size of a store. */
export function readPageBytes(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA page_size').get()?.['page_size'])
}

/** Sets up a connection, and creates the tables of a new store. */
function prepareStore(db: DatabaseSync, file: string, isFullyDurable: boolean): void {
  // Auto-vacuum can free pages. Only for a new file: on an old one, both would write.
  const isNew = Number(db.prepare('PRAGMA page_count').get()?.['page_count']) === 0
  const isStore = !isNew && identifyDatabase(db, file) === 'store'
  if (isNew) db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA auto_vacuum = INCREMENTAL`)
  db.exec('PRAGMA journal_mode = WAL')
  db.exec(CACHE_PRAGMA)
  // Per connection, and SQLite ignores a misspelt value: set at every open, and verified.
  setSynchronous(db, file, isFullyDurable)
  if (!isStore) createTables(db)
}

/** Creates all tables in one transaction, so that the next opener finds a store or an empty file. */
function createTables(db: DatabaseSync): void {
  const header = `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FIRST_FORMAT}`
  db.exec('BEGIN IMMEDIATE')
  try {
    db.exec(`${header}; ${SCHEMA}; COMMIT`)
  } catch (error) {
    rollBack(db)
    throw error
  }
}

function rollBack(db: DatabaseSync): void {
  try {
    db.exec('ROLLBACK')
  } catch {
    // SQLite has rolled back by itself, as it does on a full disk.
  }
}

function isBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error)) return false
  // The low byte of an extended code is its class.
  return typeof error.errcode === 'number' && (error.errcode & 0xff) === SQLITE_BUSY
}
