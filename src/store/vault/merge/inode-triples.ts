import { type Dentry, listDentries } from '../../files/directory-entries.ts'
import type { VaultFiles } from '../../files/vault-files.ts'
import type { InodeMatchers } from './inode-matchers.ts'
import { findNamedInode, type MergeSides } from './merge-sides.ts'

/** A file they changed, with its inode on each side. The base has none if they created it. */
export interface InodeTriple {
  readonly base: number | undefined
  readonly ours: number | undefined
  readonly theirs: number | undefined
}

/** Lists every file they changed once. */
export function listInodeTriples(sides: MergeSides, matchers: InodeMatchers): InodeTriple[] {
  const { base, theirs } = sides
  const fromBase = new Map<number, InodeTriple>()
  const created: InodeTriple[] = []
  const add = (old: number, current: number | undefined) => {
    if (!fromBase.has(old))
      fromBase.set(old, { base: old, ours: matchers.baseToOurs.findMatch(old), theirs: current })
  }
  for (const number of listTouchedWithContents(sides)) {
    if (findNamedInode(base, number) !== undefined) add(number, matchers.baseToTheirs.findMatch(number))
    if (findNamedInode(theirs, number) === undefined) continue
    const old = matchers.theirsToBase.findMatch(number)
    if (old === undefined) created.push({ base: undefined, ours: undefined, theirs: number })
    else add(old, number)
  }
  return [...fromBase.values(), ...created]
}

/** Lists touched inodes, and the entries of directories created after the sides diverged: their paths changed. */
function listTouchedWithContents({ base, theirs, touched, apart }: MergeSides): Set<number> {
  const all = new Set(touched)
  for (const files of [base, theirs]) {
    const pending = [...all].filter((number) => number >= apart.theirs)
    for (let number = pending.pop(); number !== undefined; number = pending.pop()) {
      if (findNamedInode(files, number)?.type !== 'directory') continue
      for (const { inode } of files.listEntries(number)) {
        all.add(inode)
        if (inode >= apart.theirs) pending.push(inode)
      }
    }
  }
  return all
}

/** Sorts directories, each after those inside it. */
export function sortInnermostFirst(files: VaultFiles, directories: ReadonlySet<number>): Set<number> {
  const ordered = new Set<number>()
  for (const number of directories) {
    const above: number[] = []
    for (let next = number; directories.has(next) && !ordered.has(next); next = files.getInode(next).parent)
      above.push(next)
    for (const directory of above.toReversed()) ordered.add(directory)
  }
  return new Set([...ordered].toReversed())
}

/** The dentries of a file on a side; equal keys mean the same dentry of the base. */
export class SideDentries {
  readonly #sides: MergeSides
  readonly #matchers: InodeMatchers

  constructor(sides: MergeSides, matchers: InodeMatchers) {
    this.#sides = sides
    this.#matchers = matchers
  }

  listBase(number: number): Map<string, Dentry> {
    return indexDentries(this.#sides.base, number, (parent) => `${parent}`)
  }

  listOurs(number: number): Map<string, Dentry> {
    return indexDentries(
      this.#sides.ours,
      number,
      (parent) => `${this.#matchers.oursToBase.findMatch(parent) ?? `ours ${parent}`}`,
    )
  }

  listTheirs(number: number): Map<string, Dentry> {
    return indexDentries(
      this.#sides.theirs,
      number,
      (parent) => `${this.#matchers.theirsToBase.findMatch(parent) ?? `theirs ${parent}`}`,
    )
  }
}

/** Maps the dentries of a file by their key: the directory in the base, and the name. */
function indexDentries(
  files: VaultFiles,
  number: number,
  toKey: (parent: number) => string,
): Map<string, Dentry> {
  const dentries = listDentries(files, number, files.getInode(number))
  return new Map(dentries.map((dentry) => [`${toKey(dentry.parent)}/${dentry.name}`, dentry]))
}

export function hasSameDentries(
  one: ReadonlyMap<string, Dentry>,
  other: ReadonlyMap<string, Dentry>,
): boolean {
  return one.size === other.size && [...one.keys()].every((key) => other.has(key))
}
