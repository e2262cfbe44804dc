import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Batch, BlobRow, JournalRow } from '../../engine.ts'
import { SIDE_LOG_NAME } from '../../group-commit/side-log.ts'
import { toJournalKey, toLastJournalKey } from './sqlite-journal-key.ts'

/** Messages of the trigger, by which the outcome is known. */
const ROW_EXISTS = 'coppice: this row or a later one exists'
const SIDE_LOG_EXISTS = 'coppice: the store has the token of a side log'

/**
 * A view and its trigger, of this connection only. An insert into the view is a whole commit in one call of SQLite.
 * Otherwise it takes six: BEGIN, a SELECT of the token and one of the row, an INSERT of the blob and one of the row, and
 * COMMIT.
 */
const VIEW = `
  CREATE TEMP VIEW row_commits AS
    SELECT 0 AS blob, x'' AS content, 0 AS row, 0 AS last_row, x'' AS bytes;
  CREATE TEMP TRIGGER row_commit INSTEAD OF INSERT ON row_commits BEGIN
    SELECT RAISE(ABORT, '${SIDE_LOG_EXISTS}')
      WHERE EXISTS (SELECT 1 FROM main.records WHERE key = '${SIDE_LOG_NAME}');
    SELECT RAISE(ABORT, '${ROW_EXISTS}')
      WHERE EXISTS (SELECT 1 FROM main.journal WHERE id BETWEEN NEW.row AND NEW.last_row);
    INSERT OR REPLACE INTO blobs SELECT NEW.blob, NEW.content WHERE NEW.blob IS NOT NULL;
    INSERT INTO journal VALUES (NEW.row, NEW.bytes);
  END;
`

/** Outcome of a commit. `side-log-exists`: nothing was committed, because the side log may have to be recovered first. */
export type RowCommitResult = 'committed' | 'refused' | 'side-log-exists'

/** Commits of one journal row, alone or with the blob it refers to: what most operations are. */
export class SqliteRowCommit {
  readonly #db: DatabaseSync
  #insert: StatementSync | undefined

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  commit(row: JournalRow, blob: BlobRow | undefined): RowCommitResult {
    this.#insert ??= this.#prepare()
    const [key, last] = [toJournalKey(row), toLastJournalKey(row.vault)]
    try {
      this.#insert.run(blob?.id ?? null, blob?.bytes ?? null, key, last, row.bytes)
      return 'committed'
    } catch (error) {
      const message = error instanceof Error ? error.message : ''
      if (message === ROW_EXISTS) return 'refused'
      if (message === SIDE_LOG_EXISTS) return 'side-log-exists'
      throw error
    }
  }

  #prepare(): StatementSync {
    this.#db.exec(VIEW)
    return this.#db.prepare('INSERT INTO row_commits VALUES (?, ?, ?, ?, ?)')
  }
}

/**
 * Returns the only journal row of a batch that has nothing else but at most one blob without a hash; else undefined. The
 * view has columns for one blob, and a hash is a row of another table.
 */
export function findOnlyRow({
  journal = [],
  blobs = [],
  records = [],
  pages = [],
  expect = [],
  requires = [],
  sweep,
  durable = false,
}: Batch): JournalRow | undefined {
  const hasMore = records.length + pages.length + expect.length + requires.length > 0
  if (hasMore || durable || sweep !== undefined || journal.length !== 1 || blobs.length > 1) return undefined
  return blobs[0] === undefined || blobs[0].hash.length === 0 ? journal[0] : undefined
}
