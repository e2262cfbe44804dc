import { type Files, namesOf, type StoreHome, type VaultLog } from '../../store/index.ts'
import { child } from '../../vfs/index.ts'

/**
 * Every path, of either of two vaults, at which anything may differ: content, attributes, what it leads to. Sorted, so
 * that a directory comes before what is in it. O(changes): of a directory that was moved, all that it holds.
 */
export async function touchedPaths(home: StoreHome, base: VaultLog, log: VaultLog): Promise<string[]> {
  return home.holding(async (hold) => {
    const [before, after] = [hold(await base.fold()), hold(await log.fold())]
    return home.reader.resolve(() => pathsBetween(home, before, after))
  })
}

function pathsBetween(home: StoreHome, before: number, after: number): string[] {
  const [old, now] = [home.filesAt(before), home.filesAt(after)]
  const paths = new Set<string>()
  for (const number of home.touched(before, after)) {
    const [was, is] = [placesOf(old, number), placesOf(now, number)]
    for (const path of [...was, ...is]) paths.add(path)
    // What lies in it has another path, though nothing of itself differs.
    if (was[0] === is[0]) continue
    addBelow(old, number, was, paths)
    addBelow(now, number, is, paths)
  }
  return [...paths].sort()
}

/** Everywhere an inode has a name; nowhere if it is not there, or only held open. */
function placesOf(files: Files, number: number): string[] {
  const inode = files.inodeIfPresent(number)
  if (inode === undefined || inode.links === 0) return []
  if (inode.links < 2) return [files.pathOf(number)]
  return namesOf(files, number, inode).map(({ parent, name }) => child(files.pathOf(parent), name))
}

function addBelow(files: Files, number: number, [path]: readonly string[], paths: Set<string>): void {
  if (path === undefined || files.inodeIfPresent(number)?.type !== 'directory') return
  for (const { name, inode } of files.entries(number)) {
    const below = child(path, name)
    paths.add(below)
    addBelow(files, inode, [below], paths)
  }
}
