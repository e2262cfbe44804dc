import { child } from '../../../vfs/index.ts'
import type { Dentry } from '../../files/directory-entries.ts'
import { isPlainDirectory } from './create-from-theirs.ts'
import { hasSameDentries, type InodeTriple } from './inode-triples.ts'
import type { MergeContext } from './merge-context.ts'
import { unlinkNames } from './removal-applier.ts'

/** An entry that has to move to its path in their tree. */
export interface PlannedMove {
  readonly triple: InodeTriple & { readonly theirs: number }
  /** Dentry in our tree; undefined for an additional name or a new entry. */
  readonly from: Dentry | undefined
  /** Dentry in their tree. */
  readonly to: Dentry
  readonly path: string
  /** True if we moved it, too. */
  readonly isContested: boolean
}

/** Plans the moves and creates of their side. */
export class MovePlanner {
  readonly #context: MergeContext

  constructor(context: MergeContext) {
    this.#context = context
  }

  /** Returns the moves from the root down. Unlinks names that they removed from files with others. */
  planMoves(triples: readonly InodeTriple[]): PlannedMove[] {
    const all = triples.flatMap(({ base, ours, theirs }) =>
      theirs === undefined ? [] : this.#planInode({ base, ours, theirs }),
    )
    return all.sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  /** Plans the moves of one file they changed: its new names, or all if it has to be created. */
  #planInode(triple: PlannedMove['triple']): PlannedMove[] {
    const { base, ours, theirs } = triple
    const theirDentries = this.#context.dentries.listTheirs(theirs)
    // The entries of a new directory create it.
    if (
      base === undefined &&
      this.#context.sides.theirs.hasEntries(theirs) &&
      isPlainDirectory(this.#context.sides.theirs, theirs)
    )
      return []
    if (base === undefined)
      return [...theirDentries.values()].map((to) => this.#createMove(triple, undefined, to))
    if (ours !== undefined) return this.#planNameChanges(triple, base, ours, theirDentries)
    const isMoved = !hasSameDentries(this.#context.dentries.listBase(base), theirDentries)
    if (this.#context.sides.theirs.getInode(theirs).type === 'directory') return []
    if (!isMoved && !this.#context.contents.isChanged(base, this.#context.sides.theirs, theirs)) return []
    const [first] = theirDentries.values()
    if (first === undefined) return []
    if (this.#context.conflicts.resolve(this.#getPath(first), triple) === 'ours') return []
    return [...theirDentries.values()].map((to) => this.#createMove(triple, undefined, to))
  }

  /** Pairs names they added to a file with names they removed: each pair is a move. */
  #planNameChanges(
    triple: PlannedMove['triple'],
    base: number,
    ours: number,
    theirDentries: ReadonlyMap<string, Dentry>,
  ): PlannedMove[] {
    const [before, ourDentries] = [
      this.#context.dentries.listBase(base),
      this.#context.dentries.listOurs(ours),
    ]
    const added = [...theirDentries].flatMap(([key, dentry]) => (before.has(key) ? [] : [dentry]))
    const removedKeys = [...before.keys()].filter((key) => !theirDentries.has(key))
    // With one name each, both moved it to different paths, or neither did.
    const isContested =
      added.length > 0 && before.size === 1 && ourDentries.size === 1 && !hasSameDentries(before, ourDentries)
    const sources = isContested
      ? [...ourDentries.values()]
      : removedKeys.flatMap((key) => ourDentries.get(key) ?? [])
    const moves = added.map((to, index) => this.#createMove(triple, sources[index], to, isContested))
    unlinkNames(this.#context.draft, sources.slice(added.length), ours)
    return moves
  }

  #createMove(
    triple: PlannedMove['triple'],
    from: Dentry | undefined,
    to: Dentry,
    isContested = false,
  ): PlannedMove {
    return { triple, from, to, path: this.#getPath(to), isContested }
  }

  #getPath({ parent, name }: Dentry): string {
    return child(this.#context.sides.theirs.getPath(parent), name)
  }
}
