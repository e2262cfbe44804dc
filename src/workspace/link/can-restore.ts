import { isUtf8 } from 'node:buffer'
import { accessSync, constants, readdirSync } from 'node:fs'
import { isErrno } from '../../machine/index.ts'
import { findHostEntry } from './host-entry.ts'
import { joinPath } from './tree.ts'

const { R_OK, X_OK } = constants

/**
 * Whether what is at a path of this machine could be made again, and with `isDeep` all that is below it: this user can
 * read it, and it is no pipe, socket or device, nor has a name or target that is not UTF-8. O(entries).
 */
export function canRestore(path: string, isDeep: boolean): boolean {
  try {
    const { type } = findHostEntry(path) ?? {}
    if (type === 'file') accessSync(path, R_OK)
    if (!isDeep || type !== 'directory') return type !== 'other'
    accessSync(path, R_OK | X_OK)
    return readdirSync(path, { encoding: 'buffer' }).every(
      (name) => isUtf8(name) && canRestore(joinPath(path, name.toString()), true),
    )
  } catch (error) {
    if (isErrno(error, 'EACCES', 'EPERM')) return false
    throw error
  }
}
