import { renameSync, type Stats, statSync } from 'node:fs'
import { isErrno } from '../../machine/index.ts'
import { type RenameOptions, relativeTo } from '../../vfs/index.ts'
import type { ConfinedTree } from './confined-tree.ts'
import { type HostCall, HostFsFault } from './host-errors.ts'
import { type ConfinedPath, isSameFile, type LinkOptions } from './path-resolution.ts'

/**
 * Renames without following the last component of either path. Creates missing parents of the target. Synchronous, so that
 * no other operation of this process runs in between.
 */
export function rename(
  tree: ConfinedTree,
  from: string,
  to: string,
  options: RenameOptions,
  links: LinkOptions,
): void {
  const call: HostCall = { op: 'rename', path: from }
  tree.runAt(call, { ...links, follow: false }, (source) => {
    if (source.entry === undefined) throw new HostFsFault('ENOENT')
    tree.closed?.assertMovable(source.entry)
    if (from === to) return
    if (!source.entry.isSymbolicLink() && relativeTo(to, from) !== null) {
      throw new HostFsFault('EINVAL', `'${to}' lies inside it`)
    }
    moveIntoPlace(tree, source, source.entry, to, options, links)
  })
}

function moveIntoPlace(
  tree: ConfinedTree,
  source: ConfinedPath,
  entry: Stats,
  to: string,
  { overwrite = false }: RenameOptions,
  links: LinkOptions,
): void {
  const lookup = {
    ...links,
    follow: false,
    storing: true,
    parents: true,
    ...(entry.isDirectory() && { notThrough: entry }),
  }
  tree.runAt({ op: 'rename', path: to }, lookup, (target) => {
    if (isSameEntry(source, target)) return
    if (target.entry) assertReplaceable(entry, target, target.entry, overwrite)
    try {
      renameSync(source.directory.at(source.name), target.directory.at(target.name))
    } catch (error) {
      throw isErrno(error, 'EEXIST') ? new HostFsFault('ENOTEMPTY') : error
    }
  })
}

function assertReplaceable(entry: Stats, target: ConfinedPath, replaced: Stats, overwrite: boolean): void {
  if (!overwrite) throw new HostFsFault('EEXIST')
  if (replaced.isDirectory() !== entry.isDirectory()) {
    throw new HostFsFault(replaced.isDirectory() ? 'EISDIR' : 'ENOTDIR')
  }
  // The root is never empty: it contains the source.
  if (target.name === '.') throw new HostFsFault('ENOTEMPTY')
}

/** Reports whether two paths lead to the same entry through links. */
function isSameEntry(one: ConfinedPath, other: ConfinedPath): boolean {
  if (one.name !== other.name) return false
  return isSameFile(statSync(one.directory.at('.')), statSync(other.directory.at('.')))
}
