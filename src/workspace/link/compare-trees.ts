import type { RefMove } from '../../git-files/index.ts'
import { isSameEntry, type LinkEntry } from './link-entry.ts'
import {
  joinPath,
  listInodes,
  putEntry,
  ROOT_INODE,
  readInode,
  removeEntry,
  splitPath,
  type TreeFiles,
} from './tree.ts'
import type { TreeWork } from './tree-work.ts'

/** A path that differs between two trees. A directory comes before its entries. */
export interface TreeChange {
  readonly path: string
  readonly before: LinkEntry | undefined
  readonly after: LinkEntry | undefined
  /** True if the file has placeholders of secrets that stay: those of other files or keys. */
  readonly hasPlaceholders?: boolean
  /** Number of commits that a ref of git gained, as far as they are known. */
  readonly commits?: number
  /** Refs of git whose commits changed by it. */
  readonly refs?: readonly RefMove[]
  /** Branch or commit that HEAD of a repository names now. */
  readonly checkedOut?: string
  /** True if the directory had changed the path too. */
  readonly isMerged?: boolean
  /** True if the directory stays as it is: it has the change already, or a merge kept its version. */
  readonly isKept?: boolean
  /** True for a conflict of which both versions were written. */
  readonly isUnresolved?: boolean
}

/** Returns all differences between two trees, sorted within each directory. The root itself does not count. */
export function compareTrees(before: TreeFiles, after: TreeFiles): TreeChange[] {
  return before.readTogether(() =>
    Array.from(walkPaths(before, after)).filter((pair) => !isSameEntry(pair.before, pair.after)),
  )
}

/** True if two trees have the same visible content, but for differences to ignore. Stops at the first other one. */
export function isSameTree(
  before: TreeFiles,
  after: TreeFiles,
  isIgnored: (difference: TreeChange) => boolean = () => false,
): boolean {
  return before.readTogether(() => {
    for (const pair of walkPaths(before, after))
      if (!isSameEntry(pair.before, pair.after) && !isIgnored(pair)) return false
    return true
  })
}

/** Returns directories whose permissions differ: a diff of vaults does not include them. */
export function findChangedDirectories(before: TreeFiles, after: TreeFiles): TreeChange[] {
  const isChanged = ({ before: old, after: current }: TreeChange) =>
    old?.type === 'directory' && current?.type === 'directory' && !isSameEntry(old, current)
  return before.readTogether(() => Array.from(walkPaths(before, after)).filter(isChanged))
}

/** Sorts changes by path, a directory before its entries. */
export function sortChanges(changes: readonly TreeChange[]): TreeChange[] {
  return changes
    .map((change) => ({ change, names: splitPath(change.path) }))
    .sort((one, other) => compareNames(one.names, other.names))
    .map(({ change }) => change)
}

/** A path of two trees, by the inode of a directory in each of them. */
interface WalkedDirectory {
  readonly path: string
  readonly before: number | undefined
  readonly after: number | undefined
}

const ROOT: WalkedDirectory = { path: '/', before: ROOT_INODE, after: ROOT_INODE }

/** Yields every path of two trees, with the entry in each of them, whether or not they differ. */
function* walkPaths(
  before: TreeFiles,
  after: TreeFiles,
  directory: WalkedDirectory = ROOT,
): Generator<TreeChange> {
  const [olds, currents] = [listAt(before, directory.before), listAt(after, directory.after)]
  for (const name of [...new Set([...olds.keys(), ...currents.keys()])].sort()) {
    const path = joinPath(directory.path, name)
    const inodes = { before: olds.get(name), after: currents.get(name) }
    const [old, current] = [readAt(before, inodes.before), readAt(after, inodes.after)]
    yield { path, before: old, after: current }
    if (old?.type !== 'directory' && current?.type !== 'directory') continue
    yield* walkPaths(before, after, {
      path,
      before: old?.type === 'directory' ? inodes.before : undefined,
      after: current?.type === 'directory' ? inodes.after : undefined,
    })
  }
}

function listAt(tree: TreeFiles, ino: number | undefined): Map<string, number> {
  return ino === undefined ? new Map() : listInodes(tree, ino)
}

function readAt(tree: TreeFiles, ino: number | undefined): LinkEntry | undefined {
  return ino === undefined ? undefined : readInode(tree, ino)
}

/** Returns the work that makes another tree equal to the changed one at a path. */
export function createChangeWork({ path, after }: TreeChange): TreeWork {
  return {
    bytes: after?.size ?? 0,
    run: (tree) => (after === undefined ? removeEntry(tree, path) : putEntry(tree, path, after)),
  }
}

function compareNames(some: readonly string[], others: readonly string[]): number {
  for (const [index, name] of some.entries()) {
    const other = others[index]
    if (other === undefined) return 1
    if (name !== other) return name < other ? -1 : 1
  }
  return some.length - others.length
}
