import { diffTrees, type EntryChange } from '../tree/diff-trees.ts'
import type { NodeSource } from '../tree/tree.ts'
import { entryKinds, getGroupInode, getGroupKind } from '../tree/tree-key.ts'
import type { NodeRef } from '../tree/tree-node.ts'
import type { ContentRef, Inode, TreeValue } from '../tree/tree-values.ts'
import { MAX_INDEXED_BYTES } from './block-builder.ts'

/** Difference between a tree and the files an index covers. */
export interface Coverage {
  /** Files whose content is not indexed. */
  readonly uncovered: ReadonlySet<number>
  /** Total size of the uncovered files that can be indexed. */
  readonly bytes: number
  /** Upper bound of the index's outdated documents. */
  readonly outdated: number
}

/**
 * Compares the tree of an index with another, in time proportional to their differences. Inode numbers and versions
 * mean nothing across forks and restores; but equal entries in both trees mean equal content, and this reports the
 * others.
 */
export function computeCoverage(
  source: NodeSource<TreeValue>,
  covers: NodeRef<TreeValue>,
  tree: NodeRef<TreeValue>,
  isSameValue: (before: TreeValue, after: TreeValue) => boolean,
): Coverage {
  const uncovered = new Set<number>()
  const removed = new Set<number>()
  let bytes = 0
  for (const change of diffTrees(source, covers, tree, isSameValue)) {
    const inode = findChangedFile(change)
    // Chunks follow their inode, and are removed with it.
    if (inode === undefined || uncovered.has(inode) || removed.has(inode)) continue
    const { group, after } = change
    if (getGroupKind(group) === entryKinds.inode && !isFile(after)) removed.add(inode)
    else uncovered.add(inode)
    if (isFile(after) && after.size <= MAX_INDEXED_BYTES) bytes += after.size
  }
  return { uncovered, bytes, outdated: uncovered.size + removed.size }
}

/** Returns the file whose content an entry changes, or undefined. */
function findChangedFile({ group, before, after }: EntryChange<TreeValue>): number | undefined {
  const kind = getGroupKind(group)
  if (kind === entryKinds.chunk) return getGroupInode(group)
  if (kind !== entryKinds.inode || !(isFile(before) || isFile(after))) return undefined
  const isSame = isFile(before) && isFile(after) && hasSameContent(before, after)
  return isSame ? undefined : getGroupInode(group)
}

/** Reports whether two inodes have the same content, apart from chunks, which have their own entries. */
function hasSameContent(before: Inode, after: Inode): boolean {
  return before.size === after.size && isSameContentRef(before.content, after.content)
}

function isSameContentRef(before: ContentRef, after: ContentRef): boolean {
  if (before === 'chunks' || after === 'chunks') return before === after
  if (before instanceof Uint8Array) {
    return after instanceof Uint8Array && Buffer.compare(before, after) === 0
  }
  return !(after instanceof Uint8Array) && before.blob === after.blob
}

function isFile(value: TreeValue | undefined): value is Inode {
  return value !== undefined && 'mtime' in value && value.type === 'file'
}
