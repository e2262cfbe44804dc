import type { DatabaseSync } from 'node:sqlite'
import { readPageBytes } from './sqlite-setup.ts'

const MIB = 1024 * 1024
/** Size of the log at which a connection that commits now and then makes a checkpoint. */
const CHECKPOINT_BYTES = 8 * MIB
/** The same for a connection that commits often: each checkpoint waits for the disk. */
const GROUP_COMMIT_CHECKPOINT_BYTES = 32 * MIB
/** The same on a nearly full disk: a checkpoint makes the database grow by no more than this. */
const SCARCE_CHECKPOINT_BYTES = 0.75 * MIB
/** Size to which the log's file is cut on a nearly full disk. */
const SCARCE_FILE_BYTES = MIB
const NO_LIMIT = -1

/** Limits the size of a connection's write-ahead log, by checkpoints. */
export class SqliteWal {
  readonly #db: DatabaseSync
  #checkpointBytes = 0
  /** True if this connection commits in groups. */
  usesGroupCommit = false

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  /** Sets the limit. Call it outside of a transaction. */
  limitSize(isScarce: boolean): void {
    const bytes = isScarce
      ? SCARCE_CHECKPOINT_BYTES
      : this.usesGroupCommit
        ? GROUP_COMMIT_CHECKPOINT_BYTES
        : CHECKPOINT_BYTES
    if (bytes === this.#checkpointBytes) return
    this.#checkpointBytes = bytes
    const pages = Math.floor(bytes / readPageBytes(this.#db))
    const limit = isScarce ? SCARCE_FILE_BYTES : NO_LIMIT
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
