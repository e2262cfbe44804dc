import { realpathSync } from 'node:fs'
import { isWithin, VfsError } from '../../vfs/index.ts'
import type { SessionChange } from '../session/index.ts'

/**
 * Returns the changes without those of a home inside the directory: it changes while a command runs, and must not be
 * overwritten. Throws EPERM if a directory that contains the home was removed or replaced.
 */
export function excludeHome(
  directory: string,
  home: string | undefined,
  changes: readonly SessionChange[],
): readonly SessionChange[] {
  const homePath = home === undefined ? undefined : realpathSync(home)
  if (homePath === undefined || !isWithin(homePath, directory)) return changes
  const homeInDirectory = homePath.slice(directory === '/' ? 0 : directory.length)
  return changes.filter((change) => {
    if (isWithin(change.path, homeInDirectory)) return false
    const isCovered = change.kind === 'gone' || change.type !== 'directory'
    if (!isCovered || !isWithin(homeInDirectory, change.path)) return true
    const detail = `the command removed ${change.path}, which contains the home; its changes were not kept`
    throw new VfsError('EPERM', change.path, { op: 'exec', detail })
  })
}
