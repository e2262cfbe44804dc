import { chmodSync, lutimesSync, type Stats, utimesSync } from 'node:fs'
import type { StatChanges } from '../../vfs/index.ts'
import type { Place } from './confinement.ts'
import { Fault } from './host-errors.ts'

const PERMISSIONS = 0o7777

/** Sets the mode and time of what is at a place, never of what a link there leads to. */
export function setAttributes(place: Place, entry: Stats, changes: StatChanges): void {
  if (entry.isSymbolicLink()) setLinkTime(place, entry, changes)
  else place.directory.pinned(place.name, (path) => set(path, entry, changes))
}

function set(path: string, { atime }: Stats, { mode, mtime }: StatChanges): void {
  if (mode !== undefined) chmodSync(path, mode & PERMISSIONS)
  if (mtime !== undefined) utimesSync(path, atime, mtime)
}

function setLinkTime({ directory, name }: Place, { atime }: Stats, { mode, mtime }: StatChanges): void {
  if (mode !== undefined) throw new Fault('ENOTSUP', 'a symbolic link of this machine has no mode of its own')
  if (mtime !== undefined) lutimesSync(directory.at(name), atime, mtime)
}
