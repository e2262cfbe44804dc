import { DatabaseSync } from 'node:sqlite'
import { makePrivateFile } from '../../machine/index.ts'

const SQLITE_BUSY = 5

/**
 * Takes an exclusive lock on a file, which is created if it is missing; undefined if another process has it. It is a
 * system lock, as SQLite takes on its files, so it ends with the process.
 */
export function tryLockFile(path: string): Disposable | undefined {
  makePrivateFile(path)
  const file = new DatabaseSync(path)
  try {
    // Nothing is ever written to it.
    file.exec('pragma journal_mode = memory; pragma busy_timeout = 0; begin exclusive')
    return { [Symbol.dispose]: () => file.close() }
  } catch (error) {
    file.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return undefined
    throw error
  }
}
