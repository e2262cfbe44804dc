import { opendirSync, readdirSync, readFileSync } from 'node:fs'
import { isErrno } from './is-errno.ts'

/** Reads the text of a file; undefined if it is missing. */
export function readFileIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
}

/**
 * Reports whether a directory has entries, without listing them all. False if it is missing, true if it cannot be listed.
 */
export function hasEntries(path: string): boolean {
  try {
    const directory = opendirSync(path)
    try {
      return directory.readSync() !== null
    } finally {
      directory.closeSync()
    }
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false
    if (isErrno(error, 'EACCES')) return true
    throw error
  }
}

/** Lists the names in a directory; none if it is missing. */
export function listDirectoryIfPresent(path: string): string[] {
  try {
    return readdirSync(path)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}
