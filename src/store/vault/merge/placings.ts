import { child } from '../../../vfs/index.ts'
import type { Place } from '../../files/naming.ts'
import { isPlainDirectory } from './creation.ts'
import type { MergeParts } from './parts.ts'
import { dropNames } from './removals.ts'
import { isSamePlaces, type Track } from './tracks.ts'

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
  readonly #parts: MergeParts

  constructor(parts: MergeParts) {
    this.#parts = parts
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
    const there = this.#parts.places.ofTheirs(theirs)
    // Whatever is in a new directory is new in it, and makes it.
    if (
      base === undefined &&
      this.#parts.sides.theirs.hasEntries(theirs) &&
      isPlainDirectory(this.#parts.sides.theirs, theirs)
    )
      return []
    if (base === undefined) return [...there.values()].map((to) => this.#placing(track, undefined, to))
    if (ours !== undefined) return this.#moved(track, base, ours, there)
    const isMoved = !isSamePlaces(this.#parts.places.ofBase(base), there)
    if (this.#parts.sides.theirs.inode(theirs).type === 'directory') return []
    if (!isMoved && !this.#parts.contents.isChanged(base, this.#parts.sides.theirs, theirs)) return []
    const [first] = there.values()
    if (first !== undefined) this.#parts.conflicts.add(this.#pathOf(first), track)
    if (this.#parts.conflicts.keeps === 'ours') return []
    return [...there.values()].map((to) => this.#placing(track, undefined, to))
  }

  /** A file both have: names they gave it and took from it make moves, as far as there are as many of both. */
  #moved(track: Placing['track'], base: number, ours: number, there: ReadonlyMap<string, Place>): Placing[] {
    const [before, here] = [this.#parts.places.ofBase(base), this.#parts.places.ofOurs(ours)]
    const added = [...there].flatMap(([key, place]) => (before.has(key) ? [] : [place]))
    const dropped = [...before.keys()].filter((key) => !there.has(key))
    // With one name each it is the same move to two places, or none.
    const isContested =
      added.length > 0 && before.size === 1 && here.size === 1 && !isSamePlaces(before, here)
    const sources = isContested ? [...here.values()] : dropped.flatMap((key) => here.get(key) ?? [])
    const moves = added.map((to, index) => this.#placing(track, sources[index], to, isContested))
    dropNames(this.#parts.draft, sources.slice(added.length), ours)
    return moves
  }

  #placing(track: Placing['track'], from: Place | undefined, to: Place, isContested = false): Placing {
    return { track, from, to, path: this.#pathOf(to), isContested }
  }

  #pathOf({ parent, name }: Place): string {
    return child(this.#parts.sides.theirs.pathOf(parent), name)
  }
}
