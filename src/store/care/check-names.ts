import { ROOT_INODE, VAULT_INODE, type VaultFiles } from '../files/vault-files.ts'
import { entryKinds, getGroupInode, getGroupKind, toGroup } from '../tree/tree-key.ts'

/** Limit of reported problems. */
const MAX_PROBLEMS = 100

/** Lists inconsistencies of a vault: names without files, files without names, wrong counts. */
export function checkNames(files: VaultFiles): string[] {
  const problems: string[] = []
  const names = new Map<number, number>()
  const links = new Map<number, number>()
  const found = { files: 0, bytes: 0, symlinks: 0 }
  for (const { group, value } of files.tree.iterateFrom(toGroup(VAULT_INODE, entryKinds.inode), 0)) {
    const number = getGroupInode(group)
    if (getGroupKind(group) === entryKinds.entry && 'inode' in value) {
      names.set(value.inode, (names.get(value.inode) ?? 0) + 1)
    } else if (getGroupKind(group) === entryKinds.inode && 'mtime' in value) {
      links.set(number, value.links)
      if (value.type === 'directory') continue
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
  const { files: count, bytes, symlinks } = files.getCounters()
  if (count !== found.files || bytes !== found.bytes || symlinks !== found.symlinks) {
    problems.push(
      `it counts ${count} files with ${bytes} bytes, and holds ${found.files} with ${found.bytes}`,
    )
  }
  return problems.slice(0, MAX_PROBLEMS)
}
