import { chmodSync, lutimesSync, type Stats, utimesSync } from 'node:fs'
import type { StatChanges } from '../../vfs/index.ts'
import { HostFsFault } from './host-errors.ts'
import type { ConfinedPath } from './path-resolution.ts'

const PERMISSIONS = 0o7777

/** Sets the mode and time of an entry, never of a link's target. */
export function setAttributes(target: ConfinedPath, entry: Stats, changes: StatChanges): void {
  if (entry.isSymbolicLink()) setLinkTime(target, entry, changes)
  else target.directory.withPinnedPath(target.name, (path) => applyChanges(path, entry, changes))
}

function applyChanges(path: string, { atime }: Stats, { mode, mtime }: StatChanges): void {
  if (mode !== undefined) chmodSync(path, mode & PERMISSIONS)
  if (mtime !== undefined) utimesSync(path, atime, mtime)
}

function setLinkTime(
  { directory, name }: ConfinedPath,
  { atime }: Stats,
  { mode, mtime }: StatChanges,
): void {
  if (mode !== undefined)
    throw new HostFsFault(
      'ENOTSUP',
      'symbolic links have no mode on this machine; set the mode of the target',
    )
  if (mtime !== undefined) lutimesSync(directory.at(name), atime, mtime)
}
