/** The kinds of entries a vault's tree holds, in the order they lie behind an inode. */
export const entryKinds = {
  /** What an inode is: type, mode, size, times, parent, small content. One for each inode, sub 0. */
  inode: 0,
  /** A name in a directory: sub is the name. */
  entry: 1,
  /** A further name of a hard-linked file: sub is `parent:name`. Of inode 0: a file without a name that is still open. */
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

/** Inode and kind in one number, so that most comparisons compare numbers. Everything of an inode lies together. */
export function toGroup(inode: number, kind: EntryKind): number {
  return inode * KINDS_PER_INODE + kind
}

/** Every group of an inode is at least the first number and below the second. */
export function toGroupRange(inode: number): readonly [first: number, end: number] {
  return [inode * KINDS_PER_INODE, (inode + 1) * KINDS_PER_INODE]
}

export function getGroupInode(group: number): number {
  return Math.floor(group / KINDS_PER_INODE)
}

export function getGroupKind(group: number): number {
  return group % KINDS_PER_INODE
}

/** What comes after the group in a key. Within one group all are strings or all are numbers. */
export type SubKey = string | number

export function compareKeys(group: number, sub: SubKey, otherGroup: number, otherSub: SubKey): number {
  if (group !== otherGroup) return group - otherGroup
  return sub < otherSub ? -1 : sub === otherSub ? 0 : 1
}
