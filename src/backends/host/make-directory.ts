import { constants, fchmodSync, lstatSync, mkdirSync } from 'node:fs'
import { isErrno } from '../../machine/index.ts'
import type { MkdirOptions } from '../../vfs/index.ts'
import type { ConfinedTree } from './confined-tree.ts'
import { type HostCall, HostFsFault } from './host-errors.ts'
import type { ConfinedPath, LinkOptions } from './path-resolution.ts'

const { O_DIRECTORY, O_RDONLY } = constants
const NEW_DIRECTORY_MODE = 0o777
const OWNER_ONLY = 0o700

/** Creates a directory. With `parents`, creates missing ones, and accepts a directory or a link to one at the path. */
export function makeDirectoryAt(
  tree: ConfinedTree,
  path: string,
  { parents = false, mode }: MkdirOptions,
  links: LinkOptions,
): void {
  const call: HostCall = { op: 'mkdir', path }
  tree.runAt(call, { ...links, follow: false, storing: true, parents }, (located) => {
    const isLink = located.entry?.isSymbolicLink() === true
    if (!parents || !isLink || !leadsToDirectory(tree, call, links)) makeDirectory(located, parents, mode)
  })
}

/** Reports whether a link leads to a directory; false for a dangling link. ELOOP. */
function leadsToDirectory(tree: ConfinedTree, call: HostCall, links: LinkOptions): boolean {
  const isDirectory = ({ entry }: ConfinedPath) => entry?.isDirectory() === true
  return tree.runIfPresent(call, { ...links, follow: true }, isDirectory) === true
}

/** Creates a directory. EEXIST, unless an existing directory is accepted. */
function makeDirectory(target: ConfinedPath, acceptExisting: boolean, mode: number | undefined): void {
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
