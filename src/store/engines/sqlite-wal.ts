import type { DatabaseSync } from 'node:sqlite'

/** SQLite's own default, which suits whoever commits now and then. */
const DEFAULT_CHECKPOINT_PAGES = 1000
/** For whoever commits often: not to wait for the disk at every eighth megabyte. */
const GROUP_COMMIT_CHECKPOINT_PAGES = 4096
/** Where room is scarce. The database grows by no more than this when the log is brought into it. */
const SCARCE_CHECKPOINT_PAGES = 96
const SCARCE_BYTES = 1024 * 1024
const NO_LIMIT = -1

/** How long the write-ahead log of a connection grows before it is brought into the database. */
export class SqliteWal {
  readonly #db: DatabaseSync
  #checkpointPages = DEFAULT_CHECKPOINT_PAGES
  /** Whether this connection commits in groups. */
  usesGroupCommit = false

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  /** Called outside of a transaction. */
  limitSize(isScarce: boolean): void {
    const pages = isScarce
      ? SCARCE_CHECKPOINT_PAGES
      : this.usesGroupCommit
        ? GROUP_COMMIT_CHECKPOINT_PAGES
        : DEFAULT_CHECKPOINT_PAGES
    if (pages === this.#checkpointPages) return
    this.#checkpointPages = pages
    const limit = isScarce ? SCARCE_BYTES : NO_LIMIT
    this.#db.exec(`PRAGMA wal_autocheckpoint = ${pages}; PRAGMA journal_size_limit = ${limit}`)
    if (isScarce) this.checkpoint()
  }

  /** Brings it into the database, as far as readers and the disk let it, so that it is written from its start again. */
  checkpoint(): void {
    try {
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      // The disk is full: the log stays as it is.
    }
  }
}
