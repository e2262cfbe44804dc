import { renameSync, type Stats, statSync } from 'node:fs'
import { type RenameOptions, relativeTo } from '../../vfs/index.ts'
import { type ConfinedTree, isSameFile, type Links, type Place } from './confinement.ts'
import { type Asked, Fault, isErrno } from './host-errors.ts'

/** Renames without following the last component of either path. Synchronous, so that nobody here comes between. */
export function rename(
  tree: ConfinedTree,
  from: string,
  to: string,
  options: RenameOptions,
  links: Links,
): void {
  const asked: Asked = { op: 'rename', path: from }
  tree.use(asked, { ...links, follow: false }, (source) => {
    if (source.entry === undefined) throw new Fault('ENOENT')
    tree.closed?.assertMovable(source.entry)
    if (from === to) return
    if (!source.entry.isSymbolicLink() && relativeTo(to, from) !== null) {
      throw new Fault('EINVAL', `'${to}' lies inside it`)
    }
    moveTo(tree, source, source.entry, to, options, links)
  })
}

function moveTo(
  tree: ConfinedTree,
  source: Place,
  entry: Stats,
  to: string,
  { overwrite = false }: RenameOptions,
  links: Links,
): void {
  const way = {
    ...links,
    follow: false,
    storing: true,
    parents: true,
    ...(entry.isDirectory() && { notThrough: entry }),
  }
  tree.use({ op: 'rename', path: to }, way, (target) => {
    if (isSamePlace(source, target)) return
    if (target.entry) assertReplaceable(entry, target, target.entry, overwrite)
    try {
      renameSync(source.directory.at(source.name), target.directory.at(target.name))
    } catch (error) {
      throw isErrno(error, 'EEXIST') ? new Fault('ENOTEMPTY') : error
    }
  })
}

function assertReplaceable(entry: Stats, target: Place, replaced: Stats, overwrite: boolean): void {
  if (!overwrite) throw new Fault('EEXIST')
  if (replaced.isDirectory() !== entry.isDirectory()) {
    throw new Fault(replaced.isDirectory() ? 'EISDIR' : 'ENOTDIR')
  }
  // The root: it holds at least the source.
  if (target.name === '.') throw new Fault('ENOTEMPTY')
}

/** Two paths may lead to one place, by way of links. */
function isSamePlace(one: Place, other: Place): boolean {
  if (one.name !== other.name) return false
  return isSameFile(statSync(one.directory.at('.')), statSync(other.directory.at('.')))
}
