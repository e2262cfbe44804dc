import { type Dentry, type Inode, listDentries, type VaultFiles } from '../../../store/index.ts'
import { child } from '../../../vfs/index.ts'
import type { StreamOperation } from './stream-operations.ts'

const ROOT = 1
const ASIDE_NAME = '.coppice-moving'

/** An inode and the path at which it is created. */
export interface PlacedInode {
  readonly number: number
  readonly path: string
}

/** The final step for an inode: created in place, or moved there from the temporary directory. */
export type PlacementStep = { readonly made: PlacedInode } | { readonly moved: StreamOperation }

/** The steps that turn one tree into another, in the order they have to be done. */
export interface ChangePlan {
  /** Removes deleted entries and moves others aside, so that every reused name is free. */
  readonly vacate: readonly StreamOperation[]
  /** Creates or moves every other entry to its path, parents first. */
  readonly settle: readonly PlacementStep[]
  /** Adds further names of inodes. */
  readonly links: readonly StreamOperation[]
  /** Inodes in both trees that changed. */
  readonly changed: readonly PlacedInode[]
  /** Directories whose time the steps have changed; it is set last. */
  readonly directories: readonly PlacedInode[]
  /** Removes the temporary directory. */
  readonly tidy: readonly StreamOperation[]
}

/** The removed, added and kept names of an inode. */
interface InodeMoves {
  readonly number: number
  readonly removedNames: readonly Dentry[]
  readonly addedNames: readonly Dentry[]
  readonly keptNames: readonly Dentry[]
}

/** A step with the depth of its path: removals run deepest first, placements deepest last. */
interface DepthStep<T> {
  readonly depth: number
  readonly step: T
}

/** Plans the steps from one tree to another, given every changed inode. O(changes). */
export class ChangePlanner {
  readonly #old: VaultFiles
  readonly #current: VaultFiles
  readonly #aside: string
  readonly #vacate: DepthStep<StreamOperation>[] = []
  readonly #settle: DepthStep<PlacementStep>[] = []
  readonly #links: StreamOperation[] = []
  readonly #changed: PlacedInode[] = []
  readonly #directories = new Set<number>()
  #isAsideUsed = false

  constructor(old: VaultFiles, current: VaultFiles) {
    this.#old = old
    this.#current = current
    this.#aside = child('/', findFreeName(old, current))
  }

  plan(touched: Iterable<number>): ChangePlan {
    for (const number of touched) this.#compare(number)
    if (this.#isAsideUsed) this.#directories.add(ROOT)
    const aside = { path: this.#aside, type: 'directory', mode: 0o700, uid: 0, gid: 0 } as const
    const vacate = this.#vacate.sort((a, b) => b.depth - a.depth).map(({ step }) => step)
    return {
      vacate: this.#isAsideUsed ? [{ op: 'make', ...aside }, ...vacate] : vacate,
      settle: this.#settle.sort((a, b) => a.depth - b.depth).map(({ step }) => step),
      links: this.#links,
      changed: this.#changed,
      directories: [...this.#directories].map((number) => ({ number, path: this.#current.getPath(number) })),
      tidy: this.#isAsideUsed ? [{ op: 'remove', path: this.#aside }] : [],
    }
  }

  #compare(number: number): void {
    const [before, after] = [findNamedInode(this.#old, number), findNamedInode(this.#current, number)]
    const [oldNames, newNames] = [
      listNames(this.#old, number, before),
      listNames(this.#current, number, after),
    ]
    if (before !== undefined && after !== undefined && isSameKind(before, after)) {
      const keptNames = newNames.filter((dentry) => hasName(oldNames, dentry))
      const removedNames = oldNames.filter((dentry) => !hasName(newNames, dentry))
      this.#move({
        number,
        removedNames,
        addedNames: newNames.filter((dentry) => !hasName(oldNames, dentry)),
        keptNames,
      })
      this.#changed.push({ number, path: this.#current.getPath(number) })
    } else {
      for (const dentry of oldNames) this.#remove(dentry)
      const [first, ...others] = newNames
      if (first !== undefined) this.#make(number, first, others)
    }
    for (const { parent } of [...oldNames, ...newNames]) this.#markDirectory(parent)
    this.#markDirectory(number)
  }

  #make(number: number, first: Dentry, others: readonly Dentry[]): void {
    const path = getPath(this.#current, first)
    this.#settle.push({ depth: getDepth(path), step: { made: { number, path } } })
    this.#link(path, others)
  }

  #move({ number, removedNames, addedNames, keptNames }: InodeMoves): void {
    const [kept] = keptNames
    const [from, ...removed] = removedNames
    const [to, ...linked] = addedNames
    if (from !== undefined && to !== undefined) {
      const path = this.#moveAside(number, from, to)
      for (const dentry of removed) this.#remove(dentry)
      this.#link(path, linked)
    } else {
      for (const dentry of removedNames) this.#remove(dentry)
      if (kept !== undefined) this.#link(getPath(this.#current, kept), addedNames)
    }
  }

  #moveAside(number: number, from: Dentry, to: Dentry): string {
    this.#isAsideUsed = true
    const aside = child(this.#aside, String(number))
    const [old, path] = [getPath(this.#old, from), getPath(this.#current, to)]
    this.#vacate.push({ depth: getDepth(old), step: { op: 'move', path: old, to: aside } })
    this.#settle.push({ depth: getDepth(path), step: { moved: { op: 'move', path: aside, to: path } } })
    return path
  }

  #remove(dentry: Dentry): void {
    const path = getPath(this.#old, dentry)
    this.#vacate.push({ depth: getDepth(path), step: { op: 'remove', path } })
  }

  #link(path: string, dentries: readonly Dentry[]): void {
    for (const dentry of dentries) this.#links.push({ op: 'link', path, to: getPath(this.#current, dentry) })
  }

  #markDirectory(number: number): void {
    if (findNamedInode(this.#current, number)?.type === 'directory') this.#directories.add(number)
  }
}

/** Returns an inode with a name; one that is only held open is not sent. */
function findNamedInode(files: VaultFiles, number: number): Inode | undefined {
  const inode = files.findInode(number)
  return inode?.links === 0 ? undefined : inode
}

function listNames(files: VaultFiles, number: number, inode: Inode | undefined): Dentry[] {
  return inode === undefined ? [] : listDentries(files, number, inode)
}

/**
 * Reports whether two inodes with one number can be states of one file. After a restore, the number may belong to another
 * one; a link's target never changes.
 */
function isSameKind(before: Inode, after: Inode): boolean {
  if (before.type !== after.type) return false
  if (before.type === 'file' || before.type === 'directory') return true
  const [one, other] = [before.content, after.content]
  return one instanceof Uint8Array && other instanceof Uint8Array && Buffer.compare(one, other) === 0
}

function hasName(dentries: readonly Dentry[], { parent, name }: Dentry): boolean {
  return dentries.some((dentry) => dentry.parent === parent && dentry.name === name)
}

function getPath(files: VaultFiles, { parent, name }: Dentry): string {
  return child(files.getPath(parent), name)
}

function getDepth(path: string): number {
  let depth = 0
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) depth++
  return depth
}

/** Returns a name that neither tree has at its root. */
function findFreeName(old: VaultFiles, current: VaultFiles): string {
  for (let number = 0; ; number++) {
    const name = `${ASIDE_NAME}-${number}`
    if (old.findEntry(ROOT, name) === undefined && current.findEntry(ROOT, name) === undefined) return name
  }
}
