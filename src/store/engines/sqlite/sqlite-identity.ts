import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { createForeignStoreError } from '../engine-errors.ts'
import { assertFormat } from '../store-format.ts'

/** Application id in the header of each store: "copp". Older stores have none. */
export const APPLICATION_ID = 0x636f7070

const TABLE_NAMES = ['blobs', 'hashes', 'journal', 'pages', 'records']

/** `store` is a store of ours; `empty` has no tables yet, or not all. */
export type SqliteIdentity = 'store' | 'empty'

/**
 * Reports whether a database is a store, without a change. Throws ENOTSUP for one of another program or of a later
 * version. An older store has no application id; its tables identify it.
 */
export function identifyDatabase(db: DatabaseSync, file: string): SqliteIdentity {
  const id = readPragma(db, 'application_id')
  const version = readPragma(db, 'user_version')
  if (id === APPLICATION_ID) {
    assertFormat(file, version)
    return 'store'
  }
  const names = db
    .prepare("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
    .all()
    .map((row) => String(row['name']))
  const isOurs = names.every((name) => TABLE_NAMES.includes(name))
  if (id !== 0 || !isOurs) throw createForeignStoreError(file, 'a SQLite database', names)
  if (version !== 0) assertFormat(file, version)
  // The process that created it was killed before the tables existed.
  return names.length === TABLE_NAMES.length ? 'store' : 'empty'
}

/** Time a connection waits for the lock of another process. */
export const BUSY_TIMEOUT_MS = 60_000

/**
 * As `identifyDatabase`, for a database with changes in a log, through a read-only connection. A connection that may
 * write would change the file when it is closed, even that of another program.
 */
export function assertOwnLog(file: string): void {
  if (!['-wal', '-journal'].some((suffix) => getFileSize(`${file}${suffix}`) > 0)) return
  const db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
  try {
    identifyDatabase(db, file)
  } finally {
    db.close()
  }
}

function readPragma(db: DatabaseSync, pragma: 'application_id' | 'user_version'): number {
  return Number(db.prepare(`PRAGMA ${pragma}`).get()?.[pragma])
}

function getFileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
