import type { DatabaseSync } from 'node:sqlite'
import { BackgroundCheckpoint } from './background-checkpoint.ts'
import { readPageBytes } from './sqlite-setup.ts'

const MIB = 1024 * 1024
/** Committed bytes after which another thread makes a checkpoint. */
const BACKGROUND_CHECKPOINT_BYTES = 8 * MIB
/** Committed bytes after which this one copies the rest, so that the log starts over: it waits for the disk twice. */
const RESTART_BYTES = 24 * MIB
/** Size of the log at which the connection makes a checkpoint itself, if the other thread could not. */
const CHECKPOINT_BYTES = 64 * MIB
/** The same on a nearly full disk: a checkpoint makes the database grow by no more than this. */
const SCARCE_CHECKPOINT_BYTES = 0.75 * MIB
/** Size to which the log's file is cut on a nearly full disk. */
const SCARCE_FILE_BYTES = MIB
const NO_LIMIT = -1

/** Limits the size of a connection's write-ahead log, by checkpoints. */
export class SqliteWal {
  readonly #db: DatabaseSync
  readonly #background: BackgroundCheckpoint
  #checkpointBytes = 0
  /** Bytes that were committed since the log started over. */
  #committedBytes = 0
  /** The part of them that the last checkpoint in the background was requested for. */
  #requestedBytes = 0

  constructor(db: DatabaseSync, file: string) {
    this.#db = db
    this.#background = new BackgroundCheckpoint(file)
  }

  /** Sets the limit. Call it outside of a transaction. */
  limitSize(isScarce: boolean): void {
    this.restartIfLong()
    const bytes = isScarce ? SCARCE_CHECKPOINT_BYTES : CHECKPOINT_BYTES
    if (bytes === this.#checkpointBytes) return
    this.#checkpointBytes = bytes
    const pages = Math.floor(bytes / readPageBytes(this.#db))
    const limit = isScarce ? SCARCE_FILE_BYTES : NO_LIMIT
    this.#db.exec(`PRAGMA wal_autocheckpoint = ${pages}; PRAGMA journal_size_limit = ${limit}`)
    if (isScarce) this.checkpoint()
  }

  /** Counts committed bytes, and has another thread make a checkpoint when they are many. */
  addCommitted(bytes: number): void {
    this.#committedBytes += bytes
    if (this.#committedBytes - this.#requestedBytes < BACKGROUND_CHECKPOINT_BYTES) return
    this.#requestedBytes = this.#committedBytes
    if (this.#checkpointBytes !== SCARCE_CHECKPOINT_BYTES) this.#background.request()
  }

  /**
   * After checkpoints in the background, copies what was committed since the last one: only then does SQLite overwrite
   * the log from its beginning. Call it outside of a transaction.
   */
  restartIfLong(): void {
    if (!this.#background.takeEnded() || this.#committedBytes < RESTART_BYTES) return
    this.checkpoint()
    this.#committedBytes = 0
    this.#requestedBytes = 0
  }

  close(): Promise<void> {
    return this.#background.close()
  }

  /** Copies the log into the database and empties it, unless another connection reads or writes now. */
  truncate(): void {
    this.#background.wait()
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
    this.#background.wait()
    try {
      this.#db.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      // The disk is full: the log stays as it is.
    }
  }
}
