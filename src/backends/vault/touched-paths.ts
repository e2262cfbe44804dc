import { listDentries, type StoreHome, type VaultFiles, type VaultLog } from '../../store/index.ts'
import { child } from '../../vfs/index.ts'

/**
 * Every path, of either of two vaults, at which anything may differ: content, attributes, what it leads to. Sorted, so
 * that a directory comes before what is in it. O(changes): of a directory that was moved, all that it holds.
 */
export async function listTouchedPaths(home: StoreHome, base: VaultLog, log: VaultLog): Promise<string[]> {
  return home.withHolds(async (hold) => {
    const [before, after] = [hold(await base.flushPages()), hold(await log.flushPages())]
    return home.reader.run(() => listPathsBetween(home, before, after))
  })
}

function listPathsBetween(home: StoreHome, before: number, after: number): string[] {
  const [old, now] = [home.getFilesAt(before), home.getFilesAt(after)]
  const paths = new Set<string>()
  for (const number of home.listChangedInodes(before, after)) {
    const [was, is] = [listInodePaths(old, number), listInodePaths(now, number)]
    for (const path of [...was, ...is]) paths.add(path)
    // What lies in it has another path, though nothing of itself differs.
    if (was[0] === is[0]) continue
    addBelow(old, number, was, paths)
    addBelow(now, number, is, paths)
  }
  return [...paths].sort()
}

/** Everywhere an inode has a name; nowhere if it is not there, or only held open. */
function listInodePaths(files: VaultFiles, number: number): string[] {
  const inode = files.findInode(number)
  if (inode === undefined || inode.links === 0) return []
  if (inode.links < 2) return [files.getPath(number)]
  return listDentries(files, number, inode).map(({ parent, name }) => child(files.getPath(parent), name))
}

function addBelow(files: VaultFiles, number: number, [path]: readonly string[], paths: Set<string>): void {
  if (path === undefined || files.findInode(number)?.type !== 'directory') return
  for (const { name, inode } of files.listEntries(number)) {
    const below = child(path, name)
    paths.add(below)
    addBelow(files, inode, [below], paths)
  }
}
