import { linkSync, type Stats } from 'node:fs'
import type { InodeIdentity } from '../../vfs/index.ts'
import type { ConfinedTree } from './confined-tree.ts'
import { HostFsFault } from './host-errors.ts'
import { getEntry, type LinkOptions } from './path-resolution.ts'

/** Creates a hard link, without following the last component of either path. */
export function createHardLink(tree: ConfinedTree, existing: string, path: string, links: LinkOptions): void {
  tree.runAt({ op: 'link', path: existing }, { ...links, follow: false }, (source) => {
    if (getEntry(source).isDirectory()) throw new HostFsFault('EISDIR')
    tree.runAt({ op: 'link', path }, { ...links, follow: false, storing: true }, (target) => {
      if (target.entry) throw new HostFsFault('EEXIST')
      linkSync(source.directory.at(source.name), target.directory.at(target.name))
    })
  })
}

/** Returns the identity of an entry. The link count of a directory is 1, whatever the machine counts. */
export function toIdentity(entry: Stats): InodeIdentity {
  return { ino: entry.ino, nlink: entry.isDirectory() ? 1 : entry.nlink }
}
