import { child } from '../../../vfs/index.ts'
import type { Dentry } from '../../files/directory-entries.ts'
import { isPlainDirectory } from './create-from-theirs.ts'
import { type InodeTriple, isSameDentries } from './inode-triples.ts'
import type { MergeContext } from './merge-context.ts'
import { unlinkNames } from './removal-applier.ts'

/** Something that has to get to a place where they have it. */
export interface PlannedMove {
  readonly track: InodeTriple & { readonly theirs: number }
  /** Where it is in our tree; undefined if this is one more name for it, or it is not there at all. */
  readonly from: Dentry | undefined
  /** Where it is in their tree. */
  readonly to: Dentry
  readonly path: string
  /** Whether we moved it, too. */
  readonly isContested: boolean
}

/** Finds out what they made and moved, and where it goes. */
export class MovePlanner {
  readonly #context: MergeContext

  constructor(parts: MergeContext) {
    this.#context = parts
  }

  /** From the root down. */
  planMoves(tracks: readonly InodeTriple[]): PlannedMove[] {
    const all = tracks.flatMap(({ base, ours, theirs }) =>
      theirs === undefined ? [] : this.#planInode({ base, ours, theirs }),
    )
    return all.sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  #planInode(track: PlannedMove['track']): PlannedMove[] {
    const { base, ours, theirs } = track
    const there = this.#context.dentries.listTheirs(theirs)
    // Whatever is in a new directory is new in it, and makes it.
    if (
      base === undefined &&
      this.#context.sides.theirs.hasEntries(theirs) &&
      isPlainDirectory(this.#context.sides.theirs, theirs)
    )
      return []
    if (base === undefined) return [...there.values()].map((to) => this.#createMove(track, undefined, to))
    if (ours !== undefined) return this.#planNameChanges(track, base, ours, there)
    const isMoved = !isSameDentries(this.#context.dentries.listBase(base), there)
    if (this.#context.sides.theirs.getInode(theirs).type === 'directory') return []
    if (!isMoved && !this.#context.contents.isChanged(base, this.#context.sides.theirs, theirs)) return []
    const [first] = there.values()
    if (first !== undefined) this.#context.conflicts.add(this.#getPath(first), track)
    if (this.#context.conflicts.resolution === 'ours') return []
    return [...there.values()].map((to) => this.#createMove(track, undefined, to))
  }

  /** A file both have: names they gave it and took from it make moves, as far as there are as many of both. */
  #planNameChanges(
    track: PlannedMove['track'],
    base: number,
    ours: number,
    there: ReadonlyMap<string, Dentry>,
  ): PlannedMove[] {
    const [before, here] = [this.#context.dentries.listBase(base), this.#context.dentries.listOurs(ours)]
    const added = [...there].flatMap(([key, place]) => (before.has(key) ? [] : [place]))
    const dropped = [...before.keys()].filter((key) => !there.has(key))
    // With one name each it is the same move to two places, or none.
    const isContested =
      added.length > 0 && before.size === 1 && here.size === 1 && !isSameDentries(before, here)
    const sources = isContested ? [...here.values()] : dropped.flatMap((key) => here.get(key) ?? [])
    const moves = added.map((to, index) => this.#createMove(track, sources[index], to, isContested))
    unlinkNames(this.#context.draft, sources.slice(added.length), ours)
    return moves
  }

  #createMove(
    track: PlannedMove['track'],
    from: Dentry | undefined,
    to: Dentry,
    isContested = false,
  ): PlannedMove {
    return { track, from, to, path: this.#getPath(to), isContested }
  }

  #getPath({ parent, name }: Dentry): string {
    return child(this.#context.sides.theirs.getPath(parent), name)
  }
}
