/** Kinds of entries in a vault's tree, in their order within an inode. */
export const entryKinds = {
  /** An inode: type, mode, size, times, parent, small content. One per inode, sub 0. */
  inode: 0,
  /** A name in a directory: sub is the name. */
  entry: 1,
  /** An additional name of a hard-linked file: sub is `parent:name`. Of inode 0: an unlinked open file. */
  link: 2,
  /** A chunk of a larger file: sub is its index. */
  chunk: 3,
  xattr: 4,
  /** A tag: sub is its name. Of inode 0: every tagged file, sub is `tag`, NUL, inode. */
  tag: 5,
  /** A key of a file's metadata. Of inode 0: the vault's own counters and merge points. */
  meta: 6,
} as const

export type EntryKind = (typeof entryKinds)[keyof typeof entryKinds]

const KINDS_PER_INODE = 8

/**
 * Combines inode and kind in one number, so that most comparisons are numeric. All entries of an inode are adjacent.
 */
export function toGroup(inode: number, kind: EntryKind): number {
  return inode * KINDS_PER_INODE + kind
}

/** Returns the range of an inode's groups: from the first number, below the second. */
export function toGroupRange(inode: number): readonly [first: number, end: number] {
  return [inode * KINDS_PER_INODE, (inode + 1) * KINDS_PER_INODE]
}

export function getGroupInode(group: number): number {
  return Math.floor(group / KINDS_PER_INODE)
}

export function getGroupKind(group: number): number {
  return group % KINDS_PER_INODE
}

/** Part of a key after the group. Within one group all are strings or all are numbers. */
export type SubKey = string | number

export function compareKeys(group: number, sub: SubKey, otherGroup: number, otherSub: SubKey): number {
  if (group !== otherGroup) return group - otherGroup
  return sub < otherSub ? -1 : sub === otherSub ? 0 : 1
}
