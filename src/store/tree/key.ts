/** The kinds of entries a vault's tree holds, in the order they lie behind an inode. */
export const kinds = {
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

export type Kind = (typeof kinds)[keyof typeof kinds]

const KINDS = 8

/** Inode and kind in one number, so that most comparisons compare numbers. Everything of an inode lies together. */
export function groupOf(inode: number, kind: Kind): number {
  return inode * KINDS + kind
}

/** Every group of an inode is at least the first number and below the second. */
export function groupsOf(inode: number): readonly [first: number, end: number] {
  return [inode * KINDS, (inode + 1) * KINDS]
}

export function groupInode(group: number): number {
  return Math.floor(group / KINDS)
}

export function kindOf(group: number): number {
  return group % KINDS
}

/** What comes after the group in a key. Within one group all are strings or all are numbers. */
export type Sub = string | number

export function compareKeys(group: number, sub: Sub, otherGroup: number, otherSub: Sub): number {
  if (group !== otherGroup) return group - otherGroup
  return sub < otherSub ? -1 : sub === otherSub ? 0 : 1
}
