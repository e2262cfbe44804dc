import { ROOT_INODE } from '../../files/files.ts'
import { namesOf, type Place } from '../../files/naming.ts'
import { type Draft, isAside } from './draft.ts'
import type { MergeParts } from './parts.ts'
import { named } from './sides.ts'
import { innerFirst, isSamePlaces, type Track } from './tracks.ts'

/** Removes from our tree what they removed: files at once, directories when nothing is left in them. */
export class Removals {
  readonly #parts: MergeParts
  /** Directories they removed that are not empty yet, the inner ones first. */
  #waiting = new Set<number>()
  /** Where those of them were that had to give way already. */
  readonly #asides = new Map<number, Place>()

  constructor(parts: MergeParts) {
    this.#parts = parts
  }

  start(tracks: readonly Track[]): void {
    const directories = new Set<number>()
    for (const { base, ours, theirs } of tracks) {
      if (base === undefined || ours === undefined || theirs !== undefined) continue
      if (this.#parts.sides.base.inode(base).type !== 'directory') this.#removeFile(base, ours)
      else directories.add(ours)
    }
    this.#waiting = innerFirst(this.#parts.sides.ours, directories)
    this.#removeEmpty()
  }

  /** Removes the directories that are empty by now. What we put into one keeps it. */
  finish(): void {
    this.#removeEmpty()
    for (const number of this.#waiting) this.#bringBack(number)
  }

  /** Takes a directory out of the way if it goes, and everything in it leaves it: `isLeft` tells of a place. */
  stepAside(directory: number, isLeft: (place: Place) => boolean): boolean {
    if (!this.#isGoing(directory, isLeft)) return false
    const { parent, name } = this.#parts.draft.files.inode(directory)
    this.#asides.set(directory, { parent, name })
    this.#parts.draft.moveAside({ parent, name })
    return true
  }

  /** A directory with nothing in it but such directories goes with all of them. */
  #removeEmpty(): void {
    const { files } = this.#parts.draft
    const empty = new Set<number>()
    for (const number of this.#waiting)
      if (files.entries(number).every(({ inode }) => empty.has(inode))) empty.add(number)
    this.#waiting = this.#waiting.difference(empty)
    for (const { parent, name } of Array.from(empty, (number) => files.inode(number)))
      if (!empty.has(parent) || this.#isAside(parent)) this.#parts.draft.unlink({ parent, name })
  }

  /** Only by their paths can directories be removed together, and out of the way there are none. */
  #isAside(directory: number): boolean {
    return this.#asides.size > 0 && isAside(this.#parts.draft.files.pathOf(directory))
  }

  #isGoing(directory: number, isLeft: (place: Place) => boolean): boolean {
    const pending = [directory]
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      if (!this.#waiting.has(at)) return false
      for (const { name, inode } of this.#parts.draft.files.entries(at))
        if (!isLeft({ parent: at, name })) pending.push(inode)
    }
    return true
  }

  /** Something in it could not leave after all. */
  #bringBack(number: number): void {
    const place = this.#asides.get(number)
    if (place === undefined) return
    const parent = this.#parts.draft.has(place.parent) ? place.parent : ROOT_INODE
    const back = this.#parts.draft.besides({ parent, name: place.name }, this.#parts.sides.names.ours)
    this.#parts.draft.move(this.#parts.draft.files.inode(number), back)
  }

  #removeFile(base: number, ours: number): void {
    if (this.#isOurs(base, ours)) {
      this.#parts.conflicts.add(this.#parts.sides.base.pathOf(base), { base, ours, theirs: undefined })
      if (this.#parts.conflicts.keeps !== 'theirs') return
    }
    for (const place of namesOf(this.#parts.sides.ours, ours, this.#parts.sides.ours.inode(ours)))
      this.#parts.draft.unlink(place)
  }

  /** Whether we changed or moved a file. */
  #isOurs(base: number, ours: number): boolean {
    // Where the trees share the page, it is the very same object.
    if (this.#parts.sides.base.inode(base) === this.#parts.sides.ours.inode(ours)) return false
    const isMoved = !isSamePlaces(this.#parts.places.ofBase(base), this.#parts.places.ofOurs(ours))
    return isMoved || this.#parts.contents.isChanged(base, this.#parts.sides.ours, ours)
  }
}

/** Names they took from a file that has others. */
export function dropNames(draft: Draft, places: Iterable<Place>, number: number): void {
  for (const place of places) {
    const isLast = named(draft.files, number)?.links === 1
    if (!isLast && draft.at(place) === number) draft.unlink(place)
  }
}
