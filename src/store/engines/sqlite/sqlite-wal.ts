import type { DatabaseSync } from 'node:sqlite'

/** SQLite's default, for a connection that commits now and then. */
const DEFAULT_CHECKPOINT_PAGES = 1000
/**
 * Checkpoint interval of a connection that commits often: the default would wait for the disk every eight megabytes.
 */
const GROUP_COMMIT_CHECKPOINT_PAGES = 4096
/** Checkpoint interval on a nearly full disk: a checkpoint makes the database grow by no more than this. */
const SCARCE_CHECKPOINT_PAGES = 96
const SCARCE_BYTES = 1024 * 1024
const NO_LIMIT = -1

/** Limits the size of a connection's write-ahead log, by checkpoints. */
export class SqliteWal {
  readonly #db: DatabaseSync
  #checkpointPages = DEFAULT_CHECKPOINT_PAGES
  /** True if this connection commits in groups. */
  usesGroupCommit = false

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  /** Sets the limit. Call it outside of a transaction. */
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

  /** Copies the log into the database and empties it, unless another connection reads or writes now. */
  truncate(): void {
    const { timeout = 0 } = this.#db.prepare('PRAGMA busy_timeout').get() ?? {}
    try {
      // Waits for nobody: with readers, it does what a passive checkpoint does.
      this.#db.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // The disk is full: the log stays as it is.
    } finally {
      this.#db.exec(`PRAGMA busy_timeout = ${Number(timeout)}`)
    }
  }

  /** Copies the log into the database as far as readers and the disk allow, so that SQLite overwrites it. */
  checkpoint(): void {
    try {
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      // The disk is full: the log stays as it is.
    }
  }
}
