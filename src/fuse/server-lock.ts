import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makePrivateDirectory, makePrivateFile } from '../machine/index.ts'

/** Vaults share this many locks, so that files of vaults that are gone do not pile up. */
const LOCK_COUNT = 64
/** Whoever is alone takes no longer to clean up. */
const TIMEOUT_MS = 60_000
const SQLITE_BUSY = 5

/**
 * That this process serves a vault, as others who serve it see it. Behind it is a lock of the system, of the kind
 * SQLite takes on its files: it ends with the process, however that ends, and counts in every namespace.
 */
export class ServerLock implements Disposable {
  readonly #lock: DatabaseSync

  private constructor(lock: DatabaseSync) {
    this.#lock = lock
  }

  /** Claims a vault of a home. If nobody else serves it, `whenAlone` runs first, and nobody begins to meanwhile. */
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
      // A reader's lock, which everybody who serves holds. Nothing is ever written.
      lock.exec(`pragma busy_timeout = ${TIMEOUT_MS}; begin; select * from sqlite_master`)
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
    lock.exec('pragma journal_mode = memory; pragma busy_timeout = 0; begin exclusive')
    return true
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return false
    throw error
  }
}

/** Two vaults with one lock only wait longer until somebody is alone. */
function toLockName(vault: string): string {
  return String((createHash('sha256').update(vault).digest()[0] ?? 0) % LOCK_COUNT)
}
