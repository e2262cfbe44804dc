import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makePrivateDirectory, makePrivateFile } from '../machine/index.ts'

/** Number of locks that vaults share, so that files of removed vaults do not accumulate. */
const LOCK_COUNT = 64
/** Time that a server waits for another one that cleans up. */
const SHARED_LOCK_TIMEOUT_MS = 60_000
const SQLITE_BUSY = 5

/**
 * Shows other servers that this process serves a vault. It is a file lock, as SQLite takes on its files.
 * The system releases it when the process ends, and it works across Linux namespaces.
 */
export class ServerLock implements Disposable {
  readonly #lock: DatabaseSync

  private constructor(lock: DatabaseSync) {
    this.#lock = lock
  }

  /**
   * Locks a vault. If no other process serves it, runs `whenAlone` first, which cleans up after killed servers, while no
   * other can start.
   */
  static acquire(home: string, vault: string, whenAlone: () => void): ServerLock {
    const directory = join(home, 'serving')
    makePrivateDirectory(directory)
    const file = join(directory, toLockName(vault))
    makePrivateFile(file)
    const lock = new DatabaseSync(file)
    try {
      if (tryLockExclusive(lock)) {
        whenAlone()
        lock.exec('rollback')
      }
      // A shared lock, which every server holds. Nothing is ever written.
      lock.exec(`pragma busy_timeout = ${SHARED_LOCK_TIMEOUT_MS}; begin; select * from sqlite_master`)
    } catch (error) {
      lock.close()
      throw error
    }
    return new ServerLock(lock)
  }

  [Symbol.dispose](): void {
    this.#lock.close()
  }
}

function tryLockExclusive(lock: DatabaseSync): boolean {
  try {
    // Without a journal file, since nothing is written.
    lock.exec('pragma journal_mode = memory; pragma busy_timeout = 0; begin exclusive')
    return true
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return false
    throw error
  }
}

/**
 * Returns the name of the lock file of a vault. While one vault is served, another one with the same lock is not cleaned
 * up at its start.
 */
function toLockName(vault: string): string {
  return String((createHash('sha256').update(vault).digest()[0] ?? 0) % LOCK_COUNT)
}
