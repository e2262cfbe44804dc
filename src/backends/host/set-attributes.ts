import { chmodSync, lutimesSync, type Stats, utimesSync } from 'node:fs'
import type { StatChanges } from '../../vfs/index.ts'
import type { ConfinedPath } from './confinement.ts'
import { HostFsFault } from './host-errors.ts'

const PERMISSIONS = 0o7777

/** Sets the mode and time of what is at a place, never of what a link there leads to. */
export function setAttributes(place: ConfinedPath, entry: Stats, changes: StatChanges): void {
  if (entry.isSymbolicLink()) setLinkTime(place, entry, changes)
  else place.directory.withPinnedPath(place.name, (path) => applyChanges(path, entry, changes))
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
    throw new HostFsFault('ENOTSUP', 'a symbolic link of this machine has no mode of its own')
  if (mtime !== undefined) lutimesSync(directory.at(name), atime, mtime)
}
