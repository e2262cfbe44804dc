import { constants, fchmodSync, lstatSync, mkdirSync } from 'node:fs'
import { isErrno } from '../../machine/index.ts'
import type { ConfinedPath } from './confinement.ts'
import { HostFsFault } from './host-errors.ts'

const { O_DIRECTORY, O_RDONLY } = constants
const NEW_DIRECTORY_MODE = 0o777
const OWNER_ONLY = 0o700

/** Makes a directory at a place. EEXIST, unless a directory that is there will do. */
export function makeDirectory(place: ConfinedPath, acceptExisting: boolean, mode: number | undefined): void {
  const { directory, name, entry } = place
  if (entry?.isDirectory() && acceptExisting) return
  if (entry) throw new HostFsFault('EEXIST')
  try {
    mkdirSync(directory.at(name), mode === undefined ? NEW_DIRECTORY_MODE : OWNER_ONLY)
  } catch (error) {
    // Somebody else made it just now.
    if (!acceptExisting || !isErrno(error, 'EEXIST') || !lstatSync(directory.at(name)).isDirectory())
      throw error
    return
  }
  if (mode !== undefined) setMode(place, mode)
}

/** Exactly these bits, whatever the umask. By handle: a link put in its place meanwhile is not followed. */
function setMode({ directory, name }: ConfinedPath, mode: number): void {
  const made = directory.open(name, O_RDONLY | O_DIRECTORY)
  try {
    fchmodSync(made.fd, mode)
  } finally {
    made.close()
  }
}
