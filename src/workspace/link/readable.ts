import { accessSync, constants, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isErrno, statsAt } from './host-stats.ts'

const { R_OK, X_OK } = constants

/** Whether this user can read what is at a path of this machine, and with `isDeep` all that is below it. O(entries). */
export function isReadable(path: string, isDeep: boolean): boolean {
  if (process.getuid?.() === 0) return true
  try {
    const stats = statsAt(path)
    if (stats?.isFile()) accessSync(path, R_OK)
    if (!isDeep || !stats?.isDirectory()) return true
    accessSync(path, R_OK | X_OK)
    return readdirSync(path).every((name) => isReadable(join(path, name), true))
  } catch (error) {
    if (isErrno(error, 'EACCES', 'EPERM')) return false
    throw error
  }
}
