import { readdirSync, readFileSync } from 'node:fs'
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

/** Lists the names in a directory; none if it is missing. */
export function listDirectoryIfPresent(path: string): string[] {
  try {
    return readdirSync(path)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return []
    throw error
  }
}
