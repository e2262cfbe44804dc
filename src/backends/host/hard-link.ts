import { linkSync, type Stats } from 'node:fs'
import type { Identity } from '../../vfs/index.ts'
import type { ConfinedTree, Links } from './confinement.ts'
import { Fault } from './host-errors.ts'

/** Gives what is at a path a second name, without following the last component of either. */
export function hardLink(tree: ConfinedTree, existing: string, path: string, links: Links): void {
  tree.use({ op: 'link', path: existing }, { ...links, follow: false }, (source) => {
    if (source.entry === undefined) throw new Fault('ENOENT')
    if (source.entry.isDirectory()) throw new Fault('EISDIR')
    tree.use({ op: 'link', path }, { ...links, follow: false, storing: true }, (target) => {
      if (target.entry) throw new Fault('EEXIST')
      linkSync(source.directory.at(source.name), target.directory.at(target.name))
    })
  })
}

/** The number of names of a directory is 1, whatever this machine counts. */
export function identityOf(entry: Stats): Identity {
  return { ino: entry.ino, nlink: entry.isDirectory() ? 1 : entry.nlink }
}
