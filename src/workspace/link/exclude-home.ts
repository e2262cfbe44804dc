import { realpathSync } from 'node:fs'
import { isWithin, VfsError } from '../../vfs/index.ts'
import type { SessionChange } from '../session/index.ts'

/**
 * Changes without those of a home that lies in the directory: it goes on changing while a command runs, and is never
 * written over. EPERM if a directory was removed that holds the home.
 */
export function excludeHome(
  directory: string,
  home: string | undefined,
  changes: readonly SessionChange[],
): readonly SessionChange[] {
  const place = home === undefined ? undefined : realpathSync(home)
  if (place === undefined || !isWithin(place, directory)) return changes
  const own = place.slice(directory === '/' ? 0 : directory.length)
  return changes.filter((change) => {
    if (isWithin(change.path, own)) return false
    const isCovered = change.kind === 'gone' || change.type !== 'directory'
    if (!isCovered || !isWithin(own, change.path)) return true
    const detail = `the command removed ${change.path}, which holds the home; nothing of its changes was kept`
    throw new VfsError('EPERM', change.path, { op: 'exec', detail })
  })
}
