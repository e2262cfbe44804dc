import { existsSync } from 'node:fs'
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
    if (isBusy(error)) return undefined
    throw error
  }
}

/** Reports whether a process has the exclusive lock on a file. Looks of several processes do not disturb each other. */
export function isFileLocked(path: string): boolean {
  if (!existsSync(path)) return false
  const file = new DatabaseSync(path, { readOnly: true })
  try {
    // A read takes a shared lock.
    file.exec('pragma busy_timeout = 0; begin; select 1 from sqlite_master')
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw error
  } finally {
    file.close()
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}
