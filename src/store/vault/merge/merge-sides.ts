import type { VaultFiles } from '../../files/vault-files.ts'
import type { SideNames } from '../../text/index.ts'
import type { Inode } from '../../tree/tree-values.ts'

/** The three trees of a merge. */
export interface MergeSides {
  readonly base: VaultFiles
  readonly ours: VaultFiles
  readonly theirs: VaultFiles
  /** Every inode of which anything differs between the base and theirs. */
  readonly touched: ReadonlySet<number>
  /** For each side, the first inode number that stands for another file in the base. */
  readonly apart: { readonly ours: number; readonly theirs: number }
  readonly names: SideNames
}

/** An inode that has a name; one that is only open is no part of a merge. */
export function findNamedInode(files: VaultFiles, number: number): Inode | undefined {
  const inode = files.findInode(number)
  return inode?.links === 0 ? undefined : inode
}
