import { child } from '../../../vfs/index.ts'
import { ROOT_INODE } from '../../files/files.ts'
import { isBelow, type Place } from '../../files/naming.ts'
import type { Kinship } from './counterparts.ts'
import { create, isPlainDirectory } from './creation.ts'
import type { MergeParts } from './parts.ts'
import type { Placing } from './placings.ts'
import type { Removals } from './removals.ts'
import { innerFirst, isSamePlaces, type Track } from './tracks.ts'

interface Parts extends MergeParts {
  readonly kin: Kinship
  readonly removals: Removals
}

/**
 * Puts everything they made or moved where they have it, from the root down: a directory is in its place before
 * anything goes into it. What is in the way and leaves later goes aside.
 */
export class Placement {
  readonly #parts: Parts
  /** What still has to leave a place. */
  readonly #leaving = new Map<string, Placing>()
  readonly #done = new Set<Placing>()
  /** Where something waits that is out of the way. */
  readonly #asides = new Map<Placing, Place>()
  /** What stands in our tree for an inode of theirs that we had none for; undefined if there was no place for it. */
  readonly #placed = new Map<number, number | undefined>()
  /** Inodes of theirs that were made with all they have. */
  readonly #fresh = new Set<number>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  run(placings: readonly Placing[]): void {
    for (const placing of placings)
      if (placing.from !== undefined && !this.#isKept(placing))
        this.#leaving.set(keyOf(placing.from), placing)
    for (const placing of placings) this.#place(placing)
  }

  /** Makes the new directories that nothing was put into after all, the inner ones first: they make the others. */
  complete(tracks: readonly Track[]): void {
    const { theirs: files } = this.#parts.sides
    const made = tracks.flatMap(({ base, theirs }) =>
      base === undefined && theirs !== undefined && files.inode(theirs).type === 'directory' ? [theirs] : [],
    )
    for (const number of innerFirst(files, new Set(made)))
      if (!this.#placed.has(number)) this.#directory(number)
  }

  /** The inode of ours whose content and labels are still to be merged with theirs. */
  pairOf({ ours, theirs }: Track): number | undefined {
    if (theirs === undefined || this.#fresh.has(theirs)) return undefined
    const number = ours ?? this.#placed.get(theirs)
    return this.#parts.draft.has(number) ? number : undefined
  }

  #place(placing: Placing): void {
    // Somebody else needed its place, and it has gone to its own before its turn.
    if (this.#done.has(placing)) return
    this.#done.add(placing)
    const { from, to } = placing
    // It may itself be in the way of the directory it goes to.
    const parent = this.#directory(to.parent)
    if (from !== undefined) this.#leaving.delete(keyOf(from))
    const target = parent === undefined ? undefined : this.#target(placing, { parent, name: to.name })
    if (target === 'there') return
    if (target === undefined) this.#giveUp(placing)
    else this.#put(placing, target)
  }

  /** Where it goes; undefined if we have something else there or elsewhere, and that is kept. */
  #target(placing: Placing, place: Place): Place | 'there' | undefined {
    const { draft, conflicts } = this.#parts
    const { track, path, isContested } = placing
    const number = this.#numberOf(track)
    if (number !== undefined && draft.at(place) === number) return 'there'
    const isInside = number !== undefined && isBelow(draft.files, place.parent, number)
    if (isContested || isInside) conflicts.add(path, track)
    return isInside || this.#isKept(placing) ? undefined : this.#freed(placing, place)
  }

  /** We moved it elsewhere, and that counts. */
  #isKept({ isContested }: Placing): boolean {
    return isContested && this.#parts.conflicts.keeps !== 'theirs'
  }

  #put(placing: Placing, target: Place): void {
    const { draft } = this.#parts
    const { track, from } = placing
    const number = this.#numberOf(track)
    if (from !== undefined) draft.move(this.#asides.get(placing) ?? from, target)
    else if (number === undefined) this.#make(track.theirs, target)
    else draft.perform({ op: 'link', path: draft.pathAt(target), inode: number, ...target })
    this.#asides.delete(placing)
  }

  #make(theirs: number, target: Place): number {
    const made = create(this.#parts.draft, this.#parts.sides.theirs, theirs, target)
    this.#note(theirs, made)
    return made
  }

  #note(theirs: number, made: number): void {
    this.#placed.set(theirs, made)
    this.#fresh.add(theirs)
  }

  /** There is no place for it. What was out of the way already comes back beside where it was. */
  #giveUp(placing: Placing): void {
    const { draft, sides } = this.#parts
    const { from, track, to } = placing
    const aside = this.#asides.get(placing)
    if (from === undefined && !this.#placed.has(track.theirs)) this.#placed.set(track.theirs, undefined)
    if (from === undefined || aside === undefined) return
    const number = draft.at(aside)
    const isThere =
      draft.has(from.parent) && number !== undefined && !isBelow(draft.files, from.parent, number)
    const place = { parent: isThere ? from.parent : ROOT_INODE, name: to.name }
    draft.move(aside, draft.besides(place, sides.names.theirs))
    this.#asides.delete(placing)
  }

  /** The place itself if it is or becomes free, or another beside it; undefined if ours is kept there. */
  #freed(placing: Placing, place: Place): Place | 'there' | undefined {
    const { draft, conflicts, sides } = this.#parts
    const occupant = draft.at(place)
    if (occupant === undefined || this.#isVacated(place, occupant)) return place
    if (this.#isJoined(placing.track, occupant)) return 'there'
    if (this.#isTakenIn(placing, place, occupant)) return place
    conflicts.add(placing.path, { ...placing.track, ours: occupant })
    if (conflicts.keeps === 'markers') return draft.besides(place, sides.names.theirs)
    return conflicts.keeps === 'theirs' ? this.#cleared(place, occupant) : undefined
  }

  /** Takes what is in the way out of it, if it was to go anyway. */
  #isVacated(place: Place, occupant: number): boolean {
    const { draft, removals } = this.#parts
    const leaving = this.#leaving.get(keyOf(place))
    if (leaving === undefined) return removals.stepAside(occupant, (left) => this.#leaving.has(keyOf(left)))
    if (this.#canGo(leaving, occupant)) this.#place(leaving)
    else {
      this.#leaving.delete(keyOf(place))
      this.#asides.set(leaving, draft.moveAside(place))
    }
    return true
  }

  /** Whether it can go to its place before its turn. */
  #canGo({ to }: Placing, number: number): boolean {
    const { draft } = this.#parts
    const parent = this.#known(to.parent)
    if (parent === undefined || draft.at({ parent, name: to.name }) !== undefined) return false
    return !isBelow(draft.files, parent, number)
  }

  /** Both made the same kind of thing at the same place: it is one, and what it holds is merged. */
  #isJoined({ ours, theirs }: Track & { readonly theirs: number }, occupant: number): boolean {
    const { draft, sides, contents } = this.#parts
    const { type } = draft.files.inode(occupant)
    if (ours !== undefined || this.#placed.has(theirs) || type !== sides.theirs.inode(theirs).type)
      return false
    if (!this.#isOurNew(occupant) && (type === 'file' || !this.#isMovedByUs(occupant))) return false
    if (type !== 'file' && type !== 'directory' && !contents.isSameAsTheirs(occupant, theirs)) return false
    this.#placed.set(theirs, occupant)
    return true
  }

  /** They moved a directory to where we made one: it takes in what is in ours, unless it has the same names. */
  #isTakenIn({ from, track }: Placing, place: Place, occupant: number): boolean {
    const { draft } = this.#parts
    const number = this.#numberOf(track)
    const isDirectory = draft.files.inode(occupant).type === 'directory'
    if (from === undefined || number === undefined || !isDirectory || !this.#isOurNew(occupant)) return false
    if (draft.files.inode(number).type !== 'directory' || isBelow(draft.files, number, occupant)) return false
    const moves = Array.from(draft.files.entries(occupant), ({ name }) => ({
      here: { parent: occupant, name },
      there: { parent: number, name },
    }))
    const isFree = moves.every(
      ({ here, there }) => draft.at(there) === undefined && !this.#leaving.has(keyOf(here)),
    )
    if (!isFree) return false
    for (const { here, there } of moves) draft.move(here, there)
    draft.unlink(place)
    return true
  }

  /** Ours gives way to theirs. What we only moved here, or what holds more, stays beside it. */
  #cleared(place: Place, occupant: number): Place {
    const { draft, sides } = this.#parts
    if (this.#isOurNew(occupant) && !draft.files.hasEntries(occupant)) draft.unlink(place)
    else draft.move(place, draft.besides(place, sides.names.ours))
    return place
  }

  #isMovedByUs(number: number): boolean {
    const { kin, places, sides } = this.#parts
    const base = sides.ours.inodeIfPresent(number) === undefined ? undefined : kin.baseOfOurs.of(number)
    return base !== undefined && !isSamePlaces(places.ofBase(base), places.ofOurs(number))
  }

  #isOurNew(number: number): boolean {
    const { sides, kin } = this.#parts
    return sides.ours.inodeIfPresent(number) !== undefined && kin.baseOfOurs.of(number) === undefined
  }

  /** Our directory for one of theirs, made again if we removed it; undefined if there is no place for it. */
  #directory(theirs: number): number | undefined {
    const { sides } = this.#parts
    const missing: number[] = []
    let at = theirs
    for (; this.#known(at) === undefined && !this.#placed.has(at); at = sides.theirs.inode(at).parent)
      missing.push(at)
    for (let next = missing.pop(); next !== undefined; next = missing.pop()) {
      const chain = [next, ...missing.toReversed()]
      if (this.#isMadeAtOnce(chain)) break
      this.#makeAgain(next)
    }
    return this.#known(theirs)
  }

  /** Makes directories, each in the one before, with a single operation if there is nothing special about them. */
  #isMadeAtOnce(chain: readonly number[]): boolean {
    const { draft, sides } = this.#parts
    const inodes = chain.map((number) => sides.theirs.inode(number))
    const [first] = inodes
    const parent = first && this.#known(first.parent)
    if (parent === undefined || draft.at({ parent, name: first?.name ?? '' }) !== undefined) return false
    if (!chain.every((number) => isPlainDirectory(sides.theirs, number))) return false
    const path = inodes.reduce((directory, { name }) => child(directory, name), draft.files.pathOf(parent))
    draft.perform({ op: 'mkdir', path, parents: true })
    let at = parent
    for (const [index, { name }] of inodes.entries()) {
      at = draft.at({ parent: at, name }) ?? at
      this.#note(chain[index] ?? 0, at)
    }
    return true
  }

  #makeAgain(theirs: number): void {
    const { sides } = this.#parts
    const { parent, name } = sides.theirs.inode(theirs)
    const directory = this.#known(parent)
    if (directory === undefined) {
      this.#placed.set(theirs, undefined)
      return
    }
    const path = child(sides.theirs.pathOf(parent), name)
    const track = { base: undefined, ours: undefined, theirs }
    const placing = { track, from: undefined, to: { parent, name }, path, isContested: false }
    const place = this.#freed(placing, { parent: directory, name })
    if (place === undefined) this.#placed.set(theirs, undefined)
    else if (place !== 'there') this.#make(theirs, place)
  }

  #known(theirs: number): number | undefined {
    const { kin, draft } = this.#parts
    if (this.#placed.has(theirs)) return this.#placed.get(theirs)
    const base = kin.baseOfTheirs.of(theirs)
    const ours = base === undefined ? undefined : kin.oursOf.of(base)
    return draft.has(ours) ? ours : undefined
  }

  #numberOf({ ours, theirs }: Track & { readonly theirs: number }): number | undefined {
    const number = ours ?? this.#placed.get(theirs)
    return this.#parts.draft.has(number) ? number : undefined
  }
}

function keyOf({ parent, name }: Place): string {
  return `${parent}/${name}`
}
