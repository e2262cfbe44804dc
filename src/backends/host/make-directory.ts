import { constants, fchmodSync, lstatSync, mkdirSync } from 'node:fs'
import { isErrno } from '../../machine/index.ts'
import type { ConfinedPath } from './confinement.ts'
import { HostFsFault } from './host-errors.ts'

const { O_DIRECTORY, O_RDONLY } = constants
const NEW_DIRECTORY_MODE = 0o777
const OWNER_ONLY = 0o700

/** Creates a directory. EEXIST, unless an existing directory is accepted. */
export function makeDirectory(target: ConfinedPath, acceptExisting: boolean, mode: number | undefined): void {
  const { directory, name, entry } = target
  if (entry?.isDirectory() && acceptExisting) return
  if (entry) throw new HostFsFault('EEXIST')
  try {
    mkdirSync(directory.at(name), mode === undefined ? NEW_DIRECTORY_MODE : OWNER_ONLY)
  } catch (error) {
    // Another process created it meanwhile.
    if (!acceptExisting || !isErrno(error, 'EEXIST') || !lstatSync(directory.at(name)).isDirectory())
      throw error
    return
  }
  if (mode !== undefined) setMode(target, mode)
}

/** Sets exactly these bits, whatever the umask. Uses a handle, so that a link swapped in meanwhile is not followed. */
function setMode({ directory, name }: ConfinedPath, mode: number): void {
  const handle = directory.open(name, O_RDONLY | O_DIRECTORY)
  try {
    fchmodSync(handle.fd, mode)
  } finally {
    handle.close()
  }
}
