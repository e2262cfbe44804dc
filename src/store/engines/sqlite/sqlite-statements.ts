import type { DatabaseSync, StatementSync } from 'node:sqlite'

export const SCHEMA = `
  CREATE TABLE IF NOT EXISTS pages (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS blobs (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS hashes (hash BLOB PRIMARY KEY, blob INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS journal (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
  CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, bytes BLOB NOT NULL) WITHOUT ROWID;
`

const SQL = {
  begin: 'BEGIN IMMEDIATE',
  beginRead: 'BEGIN',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  changeCount: 'PRAGMA data_version',
  pageCount: 'PRAGMA page_count',
  format: 'PRAGMA user_version',
  readPage: 'SELECT bytes FROM pages WHERE id = ?',
  readBlob: 'SELECT bytes FROM blobs WHERE id = ?',
  findBlob: 'SELECT blob FROM hashes WHERE hash = ?',
  readRecord: 'SELECT bytes FROM records WHERE key = ?',
  listRecords: 'SELECT key, bytes FROM records WHERE key >= ? AND key < ? ORDER BY key',
  readJournal: 'SELECT id - ? AS seq, bytes FROM journal WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?',
  hasJournal: 'SELECT 1 FROM journal WHERE id BETWEEN ? AND ? LIMIT 1',
  listPages: 'SELECT id FROM pages WHERE id > ? ORDER BY id LIMIT ?',
  listBlobs: 'SELECT id FROM blobs WHERE id > ? ORDER BY id LIMIT ?',
  usageOfPages: 'SELECT count(*) AS count, total(length(bytes)) AS bytes FROM pages',
  usageOfBlobs: 'SELECT count(*) AS count, total(length(bytes)) AS bytes FROM blobs',
  usageOfJournal: 'SELECT count(*) AS count, total(length(bytes)) AS bytes FROM journal',
  putPage: 'INSERT OR REPLACE INTO pages VALUES (?, ?)',
  putBlob: 'INSERT OR REPLACE INTO blobs VALUES (?, ?)',
  putHash: 'INSERT OR REPLACE INTO hashes VALUES (?, ?)',
  putJournal: 'INSERT INTO journal VALUES (?, ?)',
  putRecord: 'INSERT OR REPLACE INTO records VALUES (?, ?)',
  deleteRecord: 'DELETE FROM records WHERE key = ?',
  deletePage: 'DELETE FROM pages WHERE id = ?',
  deleteHash: 'DELETE FROM hashes WHERE hash = ? AND blob = ?',
  deleteBlob:
    'DELETE FROM blobs WHERE id = ? AND NOT EXISTS (SELECT 1 FROM hashes WHERE hash = ? AND blob = blobs.id)',
  deleteJournal: 'DELETE FROM journal WHERE id BETWEEN ? AND ?',
} as const

/** Rows of a statement that puts many at once: a call costs as much as a row. */
const MANY_ROWS = 16
const ROW_PLACEHOLDER = '(?, ?)'

/** Parameters of a statement. */
type StatementKey = readonly (number | string | Uint8Array)[]

/** The engine's statements on one connection, each prepared at its first use. */
export class SqliteStatements {
  readonly #db: DatabaseSync
  readonly #prepared = new Map<keyof typeof SQL, StatementSync>()
  readonly #many = new Map<keyof typeof SQL, StatementSync>()
  readonly #values = new Map<keyof typeof SQL, StatementSync>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  get(name: keyof typeof SQL): StatementSync {
    const prepared = this.#prepared.get(name)
    if (prepared !== undefined) return prepared
    const statement = this.#db.prepare(SQL[name])
    this.#prepared.set(name, statement)
    return statement
  }

  /** Puts rows, many with each call. */
  putAll<Row extends { readonly bytes: Uint8Array }>(
    name: 'putPage' | 'putBlob' | 'putJournal',
    rows: readonly Row[],
    getKey: (row: Row) => number | bigint,
  ): void {
    const single = rows.length - (rows.length % MANY_ROWS)
    for (let start = 0; start < single; start += MANY_ROWS) {
      const parameters: (number | bigint | Uint8Array)[] = []
      for (const row of rows.slice(start, start + MANY_ROWS)) parameters.push(getKey(row), row.bytes)
      this.#getForMany(name).run(...parameters)
    }
    for (const row of rows.slice(single)) this.get(name).run(getKey(row), row.bytes)
  }

  #getForMany(name: 'putPage' | 'putBlob' | 'putJournal'): StatementSync {
    const prepared = this.#many.get(name)
    if (prepared !== undefined) return prepared
    const values = Array.from({ length: MANY_ROWS }, () => ROW_PLACEHOLDER).join(', ')
    const statement = this.#db.prepare(SQL[name].replace(ROW_PLACEHOLDER, values))
    this.#many.set(name, statement)
    return statement
  }

  /**
   * Returns the only column of the only row, or undefined. For frequent reads of statements that `get` is not used for.
   */
  getValue(
    name: 'readPage' | 'readBlob' | 'findBlob' | 'readRecord' | 'changeCount' | 'format',
    ...key: StatementKey
  ): unknown {
    const statement = this.#values.get(name) ?? this.#prepareValue(name)
    const row: unknown = statement.get(...key)
    if (row === undefined || row === null) return undefined
    return Array.isArray(row) ? row[0] : Object.values(row)[0]
  }

  #prepareValue(name: keyof typeof SQL): StatementSync {
    const statement = this.get(name)
    // An array takes half the time of an object; the oldest supported Node has none.
    if ('setReturnArrays' in statement) statement.setReturnArrays(true)
    this.#values.set(name, statement)
    return statement
  }
}
