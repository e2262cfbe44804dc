import { readlinkSync, symlinkSync } from 'node:fs'
import { basename, child, dirname, isVfsError } from '../../vfs/index.ts'
import type { ConfinedTree } from './confined-tree.ts'
import { HostFsFault } from './host-errors.ts'
import { getEntry, type LinkOptions, type LocateOptions } from './path-resolution.ts'

/** Creates a symbolic link, and missing parent directories. EEXIST. */
export function createSymlink(tree: ConfinedTree, path: string, target: string, links: LinkOptions): void {
  const lookup = { ...links, follow: false, storing: true, parents: true }
  tree.runAt({ op: 'symlink', path }, lookup, ({ directory, name, entry }) => {
    if (target === '' || !target.isWellFormed())
      throw new HostFsFault('EINVAL', 'the link target is empty or not valid Unicode')
    if (entry) throw new HostFsFault('EEXIST')
    symlinkSync(target, directory.at(name))
  })
}

/** Returns the target of a symbolic link. ENOENT; EINVAL for anything else. */
export function readSymlink(tree: ConfinedTree, path: string, links: LinkOptions): string {
  return tree.runAt({ op: 'readlink', path }, { ...links, follow: false }, (located) => {
    if (!getEntry(located).isSymbolicLink()) throw new HostFsFault('EINVAL', 'not a symbolic link')
    return readlinkSync(located.directory.at(located.name))
  })
}

/** Returns a path with its links resolved. */
export function resolveLinks(tree: ConfinedTree, path: string, lookup: LocateOptions): string {
  try {
    return tree.runAt({ op: 'realpath', path }, lookup, (located) => located.path)
  } catch (error) {
    // A name that is reserved for temporary files.
    if (!isVfsError(error, 'ENOENT') || path === '/') throw error
    return child(resolveLinks(tree, dirname(path), { ...lookup, follow: true }), basename(path))
  }
}
