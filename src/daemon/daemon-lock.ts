import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makePrivateDirectory, makePrivateFile } from '../machine/index.ts'
import { VfsError } from '../vfs/index.ts'

const SQLITE_BUSY = 5

/**
 * Lock of the one program that is the daemon of a home. It is a system lock, as SQLite takes on its files, so it ends
 * with the program.
 */
export class DaemonLock implements Disposable {
  readonly #database: DatabaseSync

  private constructor(lock: DatabaseSync) {
    this.#database = lock
  }

  /** Takes the lock. EEXIST if another program has it. */
  static acquire(home: string): DaemonLock {
    const directory = join(home, 'data')
    makePrivateDirectory(directory)
    const file = join(directory, 'daemon.lock')
    makePrivateFile(file)
    const lock = new DatabaseSync(file)
    try {
      lock.exec('pragma journal_mode = memory; pragma busy_timeout = 0; begin exclusive')
      return new DaemonLock(lock)
    } catch (error) {
      lock.close()
      if (!(error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY)) throw error
      throw new VfsError('EEXIST', home, { op: 'daemon', detail: `a daemon for ${home} is already running` })
    }
  }

  [Symbol.dispose](): void {
    this.#database.close()
  }
}
