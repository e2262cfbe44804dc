import { child } from '../../../vfs/index.ts'
import type { Place } from '../../files/naming.ts'
import type { Conflicts } from './conflict.ts'
import type { Contents } from './contents.ts'
import { isPlainDirectory } from './creation.ts'
import type { Draft } from './draft.ts'
import { dropNames } from './removals.ts'
import type { MergeSides } from './sides.ts'
import { isSamePlaces, type Places, type Track } from './tracks.ts'

/** Something that has to get to a place where they have it. */
export interface Placing {
  readonly track: Track & { readonly theirs: number }
  /** Where it is in our tree; undefined if this is one more name for it, or it is not there at all. */
  readonly from: Place | undefined
  /** Where it is in their tree. */
  readonly to: Place
  readonly path: string
  /** Whether we moved it, too. */
  readonly isContested: boolean
}

/** Finds out what they made and moved, and where it goes. */
export class Placings {
  readonly #sides: MergeSides
  readonly #draft: Draft
  readonly #conflicts: Conflicts
  readonly #places: Places
  readonly #contents: Contents

  constructor(parts: {
    readonly sides: MergeSides
    readonly draft: Draft
    readonly conflicts: Conflicts
    readonly places: Places
    readonly contents: Contents
  }) {
    this.#sides = parts.sides
    this.#draft = parts.draft
    this.#conflicts = parts.conflicts
    this.#places = parts.places
    this.#contents = parts.contents
  }

  /** From the root down. */
  of(tracks: readonly Track[]): Placing[] {
    const all = tracks.flatMap(({ base, ours, theirs }) =>
      theirs === undefined ? [] : this.#ofTrack({ base, ours, theirs }),
    )
    return all.sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  #ofTrack(track: Placing['track']): Placing[] {
    const { base, ours, theirs } = track
    const there = this.#places.ofTheirs(theirs)
    // Whatever is in a new directory is new in it, and makes it.
    if (
      base === undefined &&
      this.#sides.theirs.hasEntries(theirs) &&
      isPlainDirectory(this.#sides.theirs, theirs)
    )
      return []
    if (base === undefined) return [...there.values()].map((to) => this.#placing(track, undefined, to))
    if (ours !== undefined) return this.#moved(track, base, ours, there)
    const isMoved = !isSamePlaces(this.#places.ofBase(base), there)
    if (this.#sides.theirs.inode(theirs).type === 'directory') return []
    if (!isMoved && !this.#contents.isChanged(base, this.#sides.theirs, theirs)) return []
    const [first] = there.values()
    if (first !== undefined) this.#conflicts.add(this.#pathOf(first), track)
    if (this.#conflicts.keeps === 'ours') return []
    return [...there.values()].map((to) => this.#placing(track, undefined, to))
  }

  /** A file both have: names they gave it and took from it make moves, as far as there are as many of both. */
  #moved(track: Placing['track'], base: number, ours: number, there: ReadonlyMap<string, Place>): Placing[] {
    const [before, here] = [this.#places.ofBase(base), this.#places.ofOurs(ours)]
    const added = [...there].flatMap(([key, place]) => (before.has(key) ? [] : [place]))
    const dropped = [...before.keys()].filter((key) => !there.has(key))
    // With one name each it is the same move to two places, or none.
    const isContested =
      added.length > 0 && before.size === 1 && here.size === 1 && !isSamePlaces(before, here)
    const sources = isContested ? [...here.values()] : dropped.flatMap((key) => here.get(key) ?? [])
    const moves = added.map((to, index) => this.#placing(track, sources[index], to, isContested))
    dropNames(this.#draft, sources.slice(added.length), ours)
    return moves
  }

  #placing(track: Placing['track'], from: Place | undefined, to: Place, isContested = false): Placing {
    return { track, from, to, path: this.#pathOf(to), isContested }
  }

  #pathOf({ parent, name }: Place): string {
    return child(this.#sides.theirs.pathOf(parent), name)
  }
}
