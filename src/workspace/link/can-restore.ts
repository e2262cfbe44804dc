import { isUtf8 } from 'node:buffer'
import { accessSync, constants, readdirSync } from 'node:fs'
import { isErrno } from '../../machine/index.ts'
import { findHostEntry } from './host-entry.ts'
import { joinPath } from './tree.ts'

const { R_OK, X_OK } = constants

/**
 * Reports whether the entry at a host path, with `isDeep` also everything below it, can be recreated. It must be
 * readable, no pipe, socket or device, and have names and targets in UTF-8. True if nothing is there. O(entries).
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
