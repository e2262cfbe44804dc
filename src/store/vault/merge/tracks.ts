import type { Files } from '../../files/files.ts'
import { namesOf, type Place } from '../../files/naming.ts'
import type { Kinship } from './counterparts.ts'
import { type MergeSides, named } from './sides.ts'

/** A file they touched: which one it is on each side. It is missing in the base if they made it. */
export interface Track {
  readonly base: number | undefined
  readonly ours: number | undefined
  readonly theirs: number | undefined
}

/** Everything they touched, each file once. */
export function tracksOf(sides: MergeSides, kin: Kinship): Track[] {
  const { base, theirs } = sides
  const known = new Map<number, Track>()
  const made: Track[] = []
  const add = (old: number, now: number | undefined) => {
    if (!known.has(old)) known.set(old, { base: old, ours: kin.oursOf.of(old), theirs: now })
  }
  for (const number of touchedWithContents(sides)) {
    if (named(base, number) !== undefined) add(number, kin.theirsOf.of(number))
    if (named(theirs, number) === undefined) continue
    const old = kin.baseOfTheirs.of(number)
    if (old === undefined) made.push({ base: undefined, ours: undefined, theirs: number })
    else add(old, number)
  }
  return [...known.values(), ...made]
}

/** What lies in a directory that is another one on each side is touched, though nothing of itself differs. */
function touchedWithContents({ base, theirs, touched, apart }: MergeSides): Set<number> {
  const all = new Set(touched)
  for (const files of [base, theirs]) {
    const pending = [...all].filter((number) => number >= apart.theirs)
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      if (named(files, at)?.type !== 'directory') continue
      for (const { inode } of files.entries(at)) {
        all.add(inode)
        if (inode >= apart.theirs) pending.push(inode)
      }
    }
  }
  return all
}

/** The same directories, each after those in it. */
export function innerFirst(files: Files, directories: ReadonlySet<number>): Set<number> {
  const ordered = new Set<number>()
  for (const number of directories) {
    const above: number[] = []
    for (let at = number; directories.has(at) && !ordered.has(at); at = files.inode(at).parent) above.push(at)
    for (const at of above.toReversed()) ordered.add(at)
  }
  return new Set([...ordered].toReversed())
}

/** The places of a file on a side, each with a key that is the same for the same place of the base. */
export class Places {
  readonly #sides: MergeSides
  readonly #kin: Kinship

  constructor(sides: MergeSides, kin: Kinship) {
    this.#sides = sides
    this.#kin = kin
  }

  ofBase(number: number): Map<string, Place> {
    return keyed(this.#sides.base, number, (parent) => `${parent}`)
  }

  ofOurs(number: number): Map<string, Place> {
    return keyed(
      this.#sides.ours,
      number,
      (parent) => `${this.#kin.baseOfOurs.of(parent) ?? `ours ${parent}`}`,
    )
  }

  ofTheirs(number: number): Map<string, Place> {
    return keyed(
      this.#sides.theirs,
      number,
      (parent) => `${this.#kin.baseOfTheirs.of(parent) ?? `theirs ${parent}`}`,
    )
  }
}

function keyed(files: Files, number: number, keyOf: (parent: number) => string): Map<string, Place> {
  const places = namesOf(files, number, files.inode(number))
  return new Map(places.map((place) => [`${keyOf(place.parent)}/${place.name}`, place]))
}

export function isSamePlaces(one: ReadonlyMap<string, Place>, other: ReadonlyMap<string, Place>): boolean {
  return one.size === other.size && [...one.keys()].every((key) => other.has(key))
}
