import { listDentries, type StoreHome, type VaultFiles, type VaultLog } from '../../store/index.ts'
import { child } from '../../vfs/index.ts'

/**
 * Returns every path at which two vaults may differ: content, attributes, link targets. Sorted, so that a directory
 * precedes its entries. O(changes), plus everything in a moved directory.
 */
export async function listTouchedPaths(home: StoreHome, base: VaultLog, log: VaultLog): Promise<string[]> {
  return home.session.withHolds(async (hold) => {
    const [before, after] = [hold(await base.flushForReading()), hold(await log.flushForReading())]
    return home.reader.run(() => listPathsBetween(home, before, after))
  })
}

function listPathsBetween(home: StoreHome, before: number, after: number): string[] {
  const [old, current] = [home.trees.getFilesAt(before), home.trees.getFilesAt(after)]
  const paths = new Set<string>()
  for (const number of home.trees.listChangedInodes(before, after)) {
    const [oldPaths, newPaths] = [listInodePaths(old, number), listInodePaths(current, number)]
    for (const path of [...oldPaths, ...newPaths]) paths.add(path)
    // The entries of a moved directory have new paths, though they did not change.
    if (oldPaths[0] === newPaths[0]) continue
    addBelow(old, number, oldPaths, paths)
    addBelow(current, number, newPaths, paths)
  }
  return [...paths].sort()
}

/** Returns all paths of an inode; none if it is missing or only held open. */
function listInodePaths(files: VaultFiles, number: number): string[] {
  const inode = files.findInode(number)
  if (inode === undefined || inode.links === 0) return []
  if (inode.links < 2) return [files.getPath(number)]
  return listDentries(files, number, inode).map(({ parent, name }) => child(files.getPath(parent), name))
}

function addBelow(files: VaultFiles, number: number, [path]: readonly string[], paths: Set<string>): void {
  if (path === undefined || files.findInode(number)?.type !== 'directory') return
  for (const { name, inode } of files.listEntries(number)) {
    const childPath = child(path, name)
    paths.add(childPath)
    addBelow(files, inode, [childPath], paths)
  }
}
