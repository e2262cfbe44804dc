import { diffTrees, type EntryChange } from '../tree/diff-trees.ts'
import type { NodeSource } from '../tree/tree.ts'
import { entryKinds, getGroupInode, getGroupKind } from '../tree/tree-key.ts'
import type { NodeRef } from '../tree/tree-node.ts'
import type { ContentRef, Inode, TreeValue } from '../tree/tree-values.ts'
import { MAX_INDEXED_BYTES } from './block-builder.ts'

/** What a tree has that an index does not tell of. */
export interface Coverage {
  /** Files whose content is not in the index. */
  readonly uncovered: ReadonlySet<number>
  /** The size of those that could be in it. */
  readonly bytes: number
  /** How many documents of the index stand for something that is no more, at most. */
  readonly gone: number
}

/**
 * Compares the tree an index covers with another, in time proportional to their differences.
 * Numbers of inodes and versions mean nothing across forks and restores; but where both trees have the same entries
 * the content is the same, and whatever has other entries is told here.
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
    // Chunks come behind their inode, and go with it.
    if (inode === undefined || uncovered.has(inode) || removed.has(inode)) continue
    const { group, after } = change
    if (getGroupKind(group) === entryKinds.inode && !isFile(after)) removed.add(inode)
    else uncovered.add(inode)
    if (isFile(after) && after.size <= MAX_INDEXED_BYTES) bytes += after.size
  }
  return { uncovered, bytes, gone: uncovered.size + removed.size }
}

/** The file whose content an entry changes, if it does. */
function findChangedFile({ group, before, after }: EntryChange<TreeValue>): number | undefined {
  const kind = getGroupKind(group)
  if (kind === entryKinds.chunk) return getGroupInode(group)
  if (kind !== entryKinds.inode || !(isFile(before) || isFile(after))) return undefined
  const isSame = isFile(before) && isFile(after) && hasSameContent(before, after)
  return isSame ? undefined : getGroupInode(group)
}

/** Whether two records of a file mean the same bytes, as long as its chunks have not changed: these tell themselves. */
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
