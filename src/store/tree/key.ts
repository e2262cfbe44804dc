/** The kinds of entries a vault's tree holds, in the order they lie behind an inode. */
export const kinds = {
  /** What an inode is: type, mode, size, times, parent, small content. One for each inode, sub 0. */
  inode: 0,
  /** A name in a directory: sub is the name. */
  entry: 1,
  /** A further name of a hard-linked file: sub is `parent:name`. */
  link: 2,
  /** A chunk of a larger file: sub is its index. */
  chunk: 3,
  xattr: 4,
  tag: 5,
  meta: 6,
} as const

export type Kind = (typeof kinds)[keyof typeof kinds]

const KINDS = 8

/** Inode and kind in one number, so that most comparisons compare numbers. Everything of an inode lies together. */
export function groupOf(inode: number, kind: Kind): number {
  return inode * KINDS + kind
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
