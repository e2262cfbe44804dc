import { type Files, type Inode, namesOf, type Place } from '../../../store/index.ts'
import { child } from '../../../vfs/index.ts'
import type { StreamOperation } from './stream-operations.ts'

const ROOT = 1
const ASIDE = '.coppice-moving'

/** An inode that is new in a tree, and the path to make it under. */
export interface Arrival {
  readonly number: number
  readonly path: string
}

/** Where something goes in the end: made there, or moved there from aside. */
export type Settling = { readonly made: Arrival } | { readonly moved: StreamOperation }

/** The steps that turn one tree into another, in the order they have to be done. */
export interface ChangePlan {
  /** Takes away what goes and puts aside what moves, so that every name that changes hands is free. */
  readonly vacate: readonly StreamOperation[]
  readonly settle: readonly Settling[]
  readonly links: readonly StreamOperation[]
  /** Inodes that are in both trees, with something of them changed. */
  readonly changed: readonly Arrival[]
  /** Directories whose time the steps have changed, to be put right last. */
  readonly directories: readonly Arrival[]
  readonly tidy: readonly StreamOperation[]
}

/** What has come to be said of an inode: where it was, and where it is. */
interface Moves {
  readonly number: number
  readonly gone: readonly Place[]
  readonly come: readonly Place[]
  readonly stayed: readonly Place[]
}

/** How many names lead to a path: what is deeper is taken away first and settles last. */
interface AtDepth<T> {
  readonly depth: number
  readonly step: T
}

/** Plans the way from one tree to another, given every inode of which anything differs. O(changes). */
export class ChangePlanner {
  readonly #old: Files
  readonly #now: Files
  readonly #aside: string
  readonly #vacate: AtDepth<StreamOperation>[] = []
  readonly #settle: AtDepth<Settling>[] = []
  readonly #links: StreamOperation[] = []
  readonly #changed: Arrival[] = []
  readonly #directories = new Set<number>()
  #isAsideUsed = false

  constructor(old: Files, now: Files) {
    this.#old = old
    this.#now = now
    this.#aside = child('/', freeName(old, now))
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
      directories: [...this.#directories].map((number) => ({ number, path: this.#now.pathOf(number) })),
      tidy: this.#isAsideUsed ? [{ op: 'remove', path: this.#aside }] : [],
    }
  }

  #compare(number: number): void {
    const [before, after] = [named(this.#old, number), named(this.#now, number)]
    const [were, are] = [placesOf(this.#old, number, before), placesOf(this.#now, number, after)]
    if (before !== undefined && after !== undefined && isSameThing(before, after)) {
      const stayed = are.filter((place) => has(were, place))
      const gone = were.filter((place) => !has(are, place))
      this.#move({ number, gone, come: are.filter((place) => !has(were, place)), stayed })
      this.#changed.push({ number, path: this.#now.pathOf(number) })
    } else {
      for (const place of were) this.#remove(place)
      const [first, ...others] = are
      if (first !== undefined) this.#make(number, first, others)
    }
    for (const { parent } of [...were, ...are]) this.#touch(parent)
    this.#touch(number)
  }

  #make(number: number, first: Place, others: readonly Place[]): void {
    const path = pathOf(this.#now, first)
    this.#settle.push({ depth: depthOf(path), step: { made: { number, path } } })
    this.#link(path, others)
  }

  #move({ number, gone, come, stayed }: Moves): void {
    const [kept] = stayed
    const [from, ...removed] = gone
    const [to, ...linked] = come
    if (from !== undefined && to !== undefined) {
      const path = this.#putAside(number, from, to)
      for (const place of removed) this.#remove(place)
      this.#link(path, linked)
    } else {
      for (const place of gone) this.#remove(place)
      if (kept !== undefined) this.#link(pathOf(this.#now, kept), come)
    }
  }

  #putAside(number: number, from: Place, to: Place): string {
    this.#isAsideUsed = true
    const aside = child(this.#aside, String(number))
    const [old, path] = [pathOf(this.#old, from), pathOf(this.#now, to)]
    this.#vacate.push({ depth: depthOf(old), step: { op: 'move', path: old, to: aside } })
    this.#settle.push({ depth: depthOf(path), step: { moved: { op: 'move', path: aside, to: path } } })
    return path
  }

  #remove(place: Place): void {
    const path = pathOf(this.#old, place)
    this.#vacate.push({ depth: depthOf(path), step: { op: 'remove', path } })
  }

  #link(path: string, places: readonly Place[]): void {
    for (const place of places) this.#links.push({ op: 'link', path, to: pathOf(this.#now, place) })
  }

  #touch(number: number): void {
    if (named(this.#now, number)?.type === 'directory') this.#directories.add(number)
  }
}

/** An inode that has a name; one that is only open is nobody else's. */
function named(files: Files, number: number): Inode | undefined {
  const inode = files.inodeIfPresent(number)
  return inode?.links === 0 ? undefined : inode
}

function placesOf(files: Files, number: number, inode: Inode | undefined): Place[] {
  return inode === undefined ? [] : namesOf(files, number, inode)
}

/** After a restore a number may have come to stand for something else; a link's target never changes. */
function isSameThing(before: Inode, after: Inode): boolean {
  if (before.type !== after.type) return false
  if (before.type === 'file' || before.type === 'directory') return true
  const [one, other] = [before.content, after.content]
  return one instanceof Uint8Array && other instanceof Uint8Array && Buffer.compare(one, other) === 0
}

function has(places: readonly Place[], { parent, name }: Place): boolean {
  return places.some((place) => place.parent === parent && place.name === name)
}

function pathOf(files: Files, { parent, name }: Place): string {
  return child(files.pathOf(parent), name)
}

function depthOf(path: string): number {
  let depth = 0
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) depth++
  return depth
}

/** A name neither tree has at its root. */
function freeName(old: Files, now: Files): string {
  for (let number = 0; ; number++) {
    const name = `${ASIDE}-${number}`
    if (old.entry(ROOT, name) === undefined && now.entry(ROOT, name) === undefined) return name
  }
}
