import { type Dentry, type Inode, listDentries, type VaultFiles } from '../../../store/index.ts'
import { child } from '../../../vfs/index.ts'
import type { StreamOperation } from './stream-operations.ts'

const ROOT = 1
const ASIDE_NAME = '.coppice-moving'

/** An inode that is new in a tree, and the path to make it under. */
export interface PlacedInode {
  readonly number: number
  readonly path: string
}

/** Where something goes in the end: made there, or moved there from aside. */
export type PlacementStep = { readonly made: PlacedInode } | { readonly moved: StreamOperation }

/** The steps that turn one tree into another, in the order they have to be done. */
export interface ChangePlan {
  /** Takes away what goes and puts aside what moves, so that every name that changes hands is free. */
  readonly vacate: readonly StreamOperation[]
  readonly settle: readonly PlacementStep[]
  readonly links: readonly StreamOperation[]
  /** Inodes that are in both trees, with something of them changed. */
  readonly changed: readonly PlacedInode[]
  /** Directories whose time the steps have changed, to be put right last. */
  readonly directories: readonly PlacedInode[]
  readonly tidy: readonly StreamOperation[]
}

/** What has come to be said of an inode: where it was, and where it is. */
interface InodeMoves {
  readonly number: number
  readonly gone: readonly Dentry[]
  readonly come: readonly Dentry[]
  readonly stayed: readonly Dentry[]
}

/** How many names lead to a path: what is deeper is taken away first and settles last. */
interface DepthStep<T> {
  readonly depth: number
  readonly step: T
}

/** Plans the way from one tree to another, given every inode of which anything differs. O(changes). */
export class ChangePlanner {
  readonly #old: VaultFiles
  readonly #now: VaultFiles
  readonly #aside: string
  readonly #vacate: DepthStep<StreamOperation>[] = []
  readonly #settle: DepthStep<PlacementStep>[] = []
  readonly #links: StreamOperation[] = []
  readonly #changed: PlacedInode[] = []
  readonly #directories = new Set<number>()
  #isAsideUsed = false

  constructor(old: VaultFiles, now: VaultFiles) {
    this.#old = old
    this.#now = now
    this.#aside = child('/', findFreeName(old, now))
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
      directories: [...this.#directories].map((number) => ({ number, path: this.#now.getPath(number) })),
      tidy: this.#isAsideUsed ? [{ op: 'remove', path: this.#aside }] : [],
    }
  }

  #compare(number: number): void {
    const [before, after] = [findNamedInode(this.#old, number), findNamedInode(this.#now, number)]
    const [were, are] = [listPlaces(this.#old, number, before), listPlaces(this.#now, number, after)]
    if (before !== undefined && after !== undefined && isSameKind(before, after)) {
      const stayed = are.filter((place) => hasPlace(were, place))
      const gone = were.filter((place) => !hasPlace(are, place))
      this.#move({ number, gone, come: are.filter((place) => !hasPlace(were, place)), stayed })
      this.#changed.push({ number, path: this.#now.getPath(number) })
    } else {
      for (const place of were) this.#remove(place)
      const [first, ...others] = are
      if (first !== undefined) this.#make(number, first, others)
    }
    for (const { parent } of [...were, ...are]) this.#markDirectory(parent)
    this.#markDirectory(number)
  }

  #make(number: number, first: Dentry, others: readonly Dentry[]): void {
    const path = getPath(this.#now, first)
    this.#settle.push({ depth: getDepth(path), step: { made: { number, path } } })
    this.#link(path, others)
  }

  #move({ number, gone, come, stayed }: InodeMoves): void {
    const [kept] = stayed
    const [from, ...removed] = gone
    const [to, ...linked] = come
    if (from !== undefined && to !== undefined) {
      const path = this.#moveAside(number, from, to)
      for (const place of removed) this.#remove(place)
      this.#link(path, linked)
    } else {
      for (const place of gone) this.#remove(place)
      if (kept !== undefined) this.#link(getPath(this.#now, kept), come)
    }
  }

  #moveAside(number: number, from: Dentry, to: Dentry): string {
    this.#isAsideUsed = true
    const aside = child(this.#aside, String(number))
    const [old, path] = [getPath(this.#old, from), getPath(this.#now, to)]
    this.#vacate.push({ depth: getDepth(old), step: { op: 'move', path: old, to: aside } })
    this.#settle.push({ depth: getDepth(path), step: { moved: { op: 'move', path: aside, to: path } } })
    return path
  }

  #remove(place: Dentry): void {
    const path = getPath(this.#old, place)
    this.#vacate.push({ depth: getDepth(path), step: { op: 'remove', path } })
  }

  #link(path: string, places: readonly Dentry[]): void {
    for (const place of places) this.#links.push({ op: 'link', path, to: getPath(this.#now, place) })
  }

  #markDirectory(number: number): void {
    if (findNamedInode(this.#now, number)?.type === 'directory') this.#directories.add(number)
  }
}

/** An inode that has a name; one that is only open is nobody else's. */
function findNamedInode(files: VaultFiles, number: number): Inode | undefined {
  const inode = files.findInode(number)
  return inode?.links === 0 ? undefined : inode
}

function listPlaces(files: VaultFiles, number: number, inode: Inode | undefined): Dentry[] {
  return inode === undefined ? [] : listDentries(files, number, inode)
}

/** After a restore a number may have come to stand for something else; a link's target never changes. */
function isSameKind(before: Inode, after: Inode): boolean {
  if (before.type !== after.type) return false
  if (before.type === 'file' || before.type === 'directory') return true
  const [one, other] = [before.content, after.content]
  return one instanceof Uint8Array && other instanceof Uint8Array && Buffer.compare(one, other) === 0
}

function hasPlace(places: readonly Dentry[], { parent, name }: Dentry): boolean {
  return places.some((place) => place.parent === parent && place.name === name)
}

function getPath(files: VaultFiles, { parent, name }: Dentry): string {
  return child(files.getPath(parent), name)
}

function getDepth(path: string): number {
  let depth = 0
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) depth++
  return depth
}

/** A name neither tree has at its root. */
function findFreeName(old: VaultFiles, now: VaultFiles): string {
  for (let number = 0; ; number++) {
    const name = `${ASIDE_NAME}-${number}`
    if (old.findEntry(ROOT, name) === undefined && now.findEntry(ROOT, name) === undefined) return name
  }
}
