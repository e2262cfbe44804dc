import { ROOT_INODE, VAULT_INODE, type VaultFiles } from '../files/vault-files.ts'
import type { Counters } from '../tree/counters.ts'
import { entryKinds, getGroupInode, getGroupKind, toGroup } from '../tree/tree-key.ts'

/** Limit of reported problems. */
const MAX_PROBLEMS = 100

/** Lists inconsistencies of a vault, up to a limit: names without files, files without names, wrong counts. */
export function checkNames(files: VaultFiles): string[] {
  const problems: string[] = []
  const names = new Map<number, number>()
  const links = new Map<number, number>()
  const subdirectories = new DirectoryCounts()
  const found = { files: 0, bytes: 0, symlinks: 0 }
  for (const { group, value } of files.tree.iterateFrom(toGroup(VAULT_INODE, entryKinds.inode), 0)) {
    const number = getGroupInode(group)
    if (getGroupKind(group) === entryKinds.entry && 'inode' in value) {
      names.set(value.inode, (names.get(value.inode) ?? 0) + 1)
      if (value.type === 'directory') subdirectories.add(number)
    } else if (getGroupKind(group) === entryKinds.inode && 'mtime' in value) {
      links.set(number, value.links)
      if (value.type === 'directory') {
        subdirectories.expect(number, value.size)
        continue
      }
      found.files++
      if (value.type === 'file') found.bytes += value.size
      if (value.type === 'symlink') found.symlinks++
    }
  }
  for (const [number, count] of names) {
    const expected = links.get(number)
    if (expected === undefined) problems.push(`a name leads to inode ${number}, which is missing`)
    else if (expected !== count) problems.push(`inode ${number} has ${count} names, but counts ${expected}`)
  }
  for (const [number, expected] of links) {
    if (number !== ROOT_INODE && expected > 0 && !names.has(number))
      problems.push(`inode ${number} has no name`)
  }
  const counters = files.getCounters()
  const { files: count, bytes, symlinks } = counters
  if (count !== found.files || bytes !== found.bytes || symlinks !== found.symlinks) {
    problems.push(`it counts ${formatCounts(counters)}, and holds ${formatCounts(found)}`)
  }
  return [...problems, ...subdirectories.listProblems()].slice(0, MAX_PROBLEMS)
}

function formatCounts({ files, symlinks, bytes }: Omit<Counters, 'nextInode'>): string {
  return `${files} files with ${bytes} bytes and ${symlinks} links`
}

/** Subdirectories that directories have, and those that they count. */
class DirectoryCounts {
  readonly #found = new Map<number, number>()
  readonly #expected = new Map<number, number>()

  /** Counts a subdirectory that was found. */
  add(directory: number): void {
    this.#found.set(directory, (this.#found.get(directory) ?? 0) + 1)
  }

  /** Records the count of an inode. Its `size` is one more than the count, or 0 without one. */
  expect(directory: number, size: number): void {
    if (size > 0) this.#expected.set(directory, size - 1)
  }

  listProblems(): string[] {
    return [...this.#expected].flatMap(([directory, expected]) => {
      const found = this.#found.get(directory) ?? 0
      if (found === expected) return []
      return [`directory ${directory} has ${found} subdirectories, but counts ${expected}`]
    })
  }
}
