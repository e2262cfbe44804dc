import type { VaultFiles } from '../../files/vault-files.ts'
import type { SideNames } from '../../text/index.ts'
import type { Inode } from '../../tree/tree-values.ts'

/** The three trees of a merge. */
export interface MergeSides {
  readonly base: VaultFiles
  readonly ours: VaultFiles
  readonly theirs: VaultFiles
  /** Inodes with any difference between the base and theirs. */
  readonly touched: ReadonlySet<number>
  /** First inode number of each side that is another file in the base. */
  readonly apart: { readonly ours: number; readonly theirs: number }
  readonly names: SideNames
}

/** Returns an inode if it has a name; unlinked open files are not merged. */
export function findNamedInode(files: VaultFiles, number: number): Inode | undefined {
  const inode = files.findInode(number)
  return inode?.links === 0 ? undefined : inode
}
