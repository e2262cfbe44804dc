import { isUtf8 } from 'node:buffer'
import { accessSync, constants, readdirSync } from 'node:fs'
import { hostEntry } from './host-entry.ts'
import { isErrno } from './host-stats.ts'
import { childOf } from './tree.ts'

const { R_OK, X_OK } = constants

/**
 * Whether what is at a path of this machine could be made again, and with `isDeep` all that is below it: this user can
 * read it, and it is no pipe, socket or device, nor has a name or target that is not UTF-8. O(entries).
 */
export function canBePutBack(path: string, isDeep: boolean): boolean {
  try {
    const { type } = hostEntry(path) ?? {}
    if (type === 'file') accessSync(path, R_OK)
    if (!isDeep || type !== 'directory') return type !== 'other'
    accessSync(path, R_OK | X_OK)
    return readdirSync(path, { encoding: 'buffer' }).every(
      (name) => isUtf8(name) && canBePutBack(childOf(path, name.toString()), true),
    )
  } catch (error) {
    if (isErrno(error, 'EACCES', 'EPERM')) return false
    throw error
  }
}
