import { child } from '../../../vfs/index.ts'
import { type Dentry, isBelow } from '../../files/directory-entries.ts'
import { ROOT_INODE } from '../../files/vault-files.ts'
import { createFromTheirs, isPlainDirectory } from './create-from-theirs.ts'
import type { InodeMatchers } from './inode-matchers.ts'
import { hasSameDentries, type InodeTriple, sortInnermostFirst } from './inode-triples.ts'
import type { MergeContext } from './merge-context.ts'
import type { PlannedMove } from './move-planner.ts'
import type { RemovalApplier } from './removal-applier.ts'

interface MoveContext extends MergeContext {
  readonly matchers: InodeMatchers
  readonly removals: RemovalApplier
}

/**
 * Applies their creates and moves from the root down: a directory is in place before its entries. Moves aside
 * whatever is in the way and leaves later.
 */
export class MoveApplier {
  readonly #context: MoveContext
  /** Moves that are still to leave a dentry, by the dentry's key. */
  readonly #pendingMoves = new Map<string, PlannedMove>()
  readonly #done = new Set<PlannedMove>()
  /** Temporary dentries of entries that were moved aside. */
  readonly #setAside = new Map<PlannedMove, Dentry>()
  /** Our inode for each new inode of theirs; undefined if there was no free path. */
  readonly #oursByTheirs = new Map<number, number | undefined>()
  /** Their inodes that were created complete. */
  readonly #createdFromTheirs = new Set<number>()

  constructor(context: MoveContext) {
    this.#context = context
  }

  /** Applies moves, which come from the root down. */
  applyMoves(moves: readonly PlannedMove[]): void {
    for (const move of moves)
      if (move.from !== undefined && !this.#keepsOurs(move))
        this.#pendingMoves.set(toDentryKey(move.from), move)
    for (const move of moves) this.#applyMove(move)
  }

  /** Creates the new directories that are still empty, inner ones first: each creates its parents. */
  createEmptyDirectories(triples: readonly InodeTriple[]): void {
    const { theirs: files } = this.#context.sides
    const created = triples.flatMap(({ base, theirs }) =>
      base === undefined && theirs !== undefined && files.getInode(theirs).type === 'directory'
        ? [theirs]
        : [],
    )
    for (const number of sortInnermostFirst(files, new Set(created)))
      if (!this.#oursByTheirs.has(number)) this.#ensureDirectory(number)
  }

  /** Returns our inode whose content and labels still have to be merged with theirs. */
  findOursToMerge({ ours, theirs }: InodeTriple): number | undefined {
    if (theirs === undefined || this.#createdFromTheirs.has(theirs)) return undefined
    const number = ours ?? this.#oursByTheirs.get(theirs)
    return this.#context.draft.hasInode(number) ? number : undefined
  }

  /** Moves or creates an entry, with the directories it needs, or cancels the move. */
  #applyMove(move: PlannedMove): void {
    // Another move needed its dentry, so it has moved already.
    if (this.#done.has(move)) return
    this.#done.add(move)
    const { from, to } = move
    // It may itself block its target directory.
    const parent = this.#ensureDirectory(to.parent)
    if (from !== undefined) this.#pendingMoves.delete(toDentryKey(from))
    const target = parent === undefined ? undefined : this.#findTarget(move, { parent, name: to.name })
    if (target === 'in-place') return
    if (target === undefined) this.#cancelMove(move)
    else this.#moveTo(move, target)
  }

  /** Returns the target, `in-place` if the entry is there already, or undefined if our version of it is kept. */
  #findTarget(move: PlannedMove, dentry: Dentry): Dentry | 'in-place' | undefined {
    const { draft, conflicts } = this.#context
    const { triple, path, isContested } = move
    const number = this.#findInode(triple)
    if (number !== undefined && draft.findInode(dentry) === number) return 'in-place'
    const isInside = number !== undefined && isBelow(draft.files, dentry.parent, number)
    if (isContested || isInside) conflicts.resolve(path, triple)
    return isInside || this.#keepsOurs(move) ? undefined : this.#freeTarget(move, dentry)
  }

  /** Reports whether our own move of it wins. */
  #keepsOurs({ isContested, path }: PlannedMove): boolean {
    return isContested && !this.#context.conflicts.prefersTheirs(path)
  }

  #moveTo(move: PlannedMove, target: Dentry): void {
    const { draft } = this.#context
    const { triple, from } = move
    const number = this.#findInode(triple)
    if (from !== undefined) draft.move(this.#setAside.get(move) ?? from, target)
    else if (number === undefined) this.#createInode(triple.theirs, target)
    else draft.apply({ op: 'link', path: draft.getPath(target), inode: number, ...target })
    this.#setAside.delete(move)
  }

  #createInode(theirs: number, target: Dentry): number {
    const ours = createFromTheirs(this.#context.draft, this.#context.sides.theirs, theirs, target)
    this.#recordCreated(theirs, ours)
    return ours
  }

  #recordCreated(theirs: number, ours: number): void {
    this.#oursByTheirs.set(theirs, ours)
    this.#createdFromTheirs.add(theirs)
  }

  /** Cancels a move without a target. An entry that was moved aside returns beside its old path. */
  #cancelMove(move: PlannedMove): void {
    const { draft, sides } = this.#context
    const { from, triple, to } = move
    const aside = this.#setAside.get(move)
    if (from === undefined && !this.#oursByTheirs.has(triple.theirs))
      this.#oursByTheirs.set(triple.theirs, undefined)
    if (from === undefined || aside === undefined) return
    const number = draft.findInode(aside)
    const canReturn =
      draft.hasInode(from.parent) && number !== undefined && !isBelow(draft.files, from.parent, number)
    const dentry = { parent: canReturn ? from.parent : ROOT_INODE, name: to.name }
    draft.move(aside, draft.findFreeDentry(dentry, sides.names.theirs))
    this.#setAside.delete(move)
  }

  /**
   * Returns the target if it is or becomes free, or a free name beside it; undefined if ours is kept there. `in-place`
   * if their entry was joined with ours.
   */
  #freeTarget(move: PlannedMove, dentry: Dentry): Dentry | 'in-place' | undefined {
    const { draft, conflicts, sides } = this.#context
    const occupant = draft.findInode(dentry)
    if (occupant === undefined || this.#tryVacate(dentry, occupant)) return dentry
    if (this.#tryJoin(move.triple, occupant)) return 'in-place'
    if (this.#tryMergeDirectory(move, dentry, occupant)) return dentry
    const resolution = conflicts.resolve(move.path, { ...move.triple, ours: occupant })
    if (resolution === 'ours') return undefined
    if (resolution === 'theirs') return this.#clearTarget(dentry, occupant)
    return draft.findFreeDentry(dentry, sides.names.theirs)
  }

  /** Moves the occupant away if it has to leave anyway. */
  #tryVacate(dentry: Dentry, occupant: number): boolean {
    const { draft, removals } = this.#context
    const leaving = this.#pendingMoves.get(toDentryKey(dentry))
    if (leaving === undefined)
      return removals.tryMoveAside(occupant, (entry) => this.#pendingMoves.has(toDentryKey(entry)))
    if (this.#canMoveNow(leaving, occupant)) this.#applyMove(leaving)
    else {
      this.#pendingMoves.delete(toDentryKey(dentry))
      this.#setAside.set(leaving, draft.moveAside(dentry))
    }
    return true
  }

  /** Reports whether it can move before its turn. */
  #canMoveNow({ to }: PlannedMove, number: number): boolean {
    const { draft } = this.#context
    const parent = this.#findOurs(to.parent)
    if (parent === undefined || draft.findInode({ parent, name: to.name }) !== undefined) return false
    return !isBelow(draft.files, parent, number)
  }

  /** Joins entries of the same type that both created at the same path; their content is merged. */
  #tryJoin({ ours, theirs }: InodeTriple & { readonly theirs: number }, occupant: number): boolean {
    const { draft, sides, contents } = this.#context
    const { type } = draft.files.getInode(occupant)
    if (ours !== undefined || this.#oursByTheirs.has(theirs) || type !== sides.theirs.getInode(theirs).type)
      return false
    if (!this.#isCreatedByUs(occupant) && (type === 'file' || !this.#isMovedByUs(occupant))) return false
    if (type !== 'file' && type !== 'directory' && !contents.isSameAsTheirs(occupant, theirs)) return false
    this.#oursByTheirs.set(theirs, occupant)
    return true
  }

  /** Merges our new directory into theirs that moved to its path, unless names collide. */
  #tryMergeDirectory({ from, triple }: PlannedMove, dentry: Dentry, occupant: number): boolean {
    const { draft } = this.#context
    const number = this.#findInode(triple)
    const isDirectory = draft.files.getInode(occupant).type === 'directory'
    if (from === undefined || number === undefined || !isDirectory || !this.#isCreatedByUs(occupant))
      return false
    if (draft.files.getInode(number).type !== 'directory' || isBelow(draft.files, number, occupant))
      return false
    const moves = Array.from(draft.files.listEntries(occupant), ({ name }) => ({
      from: { parent: occupant, name },
      to: { parent: number, name },
    }))
    const isFree = moves.every(
      ({ from, to }) => draft.findInode(to) === undefined && !this.#pendingMoves.has(toDentryKey(from)),
    )
    if (!isFree) return false
    for (const entry of moves) draft.move(entry.from, entry.to)
    draft.unlink(dentry)
    return true
  }

  /** Replaces ours with theirs. An entry that we only moved here, or a non-empty directory, stays beside it. */
  #clearTarget(dentry: Dentry, occupant: number): Dentry {
    const { draft, sides } = this.#context
    if (this.#isCreatedByUs(occupant) && !draft.files.hasEntries(occupant)) draft.unlink(dentry)
    else draft.move(dentry, draft.findFreeDentry(dentry, sides.names.ours))
    return dentry
  }

  #isMovedByUs(number: number): boolean {
    const { matchers, dentries, sides } = this.#context
    const base =
      sides.ours.findInode(number) === undefined ? undefined : matchers.oursToBase.findMatch(number)
    return base !== undefined && !hasSameDentries(dentries.listBase(base), dentries.listOurs(number))
  }

  #isCreatedByUs(number: number): boolean {
    const { sides, matchers } = this.#context
    return sides.ours.findInode(number) !== undefined && matchers.oursToBase.findMatch(number) === undefined
  }

  /** Returns our directory for theirs, created again if we removed it; undefined if there is no free path. */
  #ensureDirectory(theirs: number): number | undefined {
    const { sides } = this.#context
    const missing: number[] = []
    for (
      let directory = theirs;
      this.#findOurs(directory) === undefined && !this.#oursByTheirs.has(directory);
      directory = sides.theirs.getInode(directory).parent
    )
      missing.push(directory)
    for (let next = missing.pop(); next !== undefined; next = missing.pop()) {
      const chain = [next, ...missing.toReversed()]
      if (this.#tryCreateDirectories(chain)) break
      this.#recreateDirectory(next)
    }
    return this.#findOurs(theirs)
  }

  /** Creates nested directories with one operation if their attributes are default. */
  #tryCreateDirectories(chain: readonly number[]): boolean {
    const { draft, sides } = this.#context
    const inodes = chain.map((number) => sides.theirs.getInode(number))
    const [first] = inodes
    const parent = first && this.#findOurs(first.parent)
    if (parent === undefined || draft.findInode({ parent, name: first?.name ?? '' }) !== undefined)
      return false
    if (!chain.every((number) => isPlainDirectory(sides.theirs, number))) return false
    const path = inodes.reduce((directory, { name }) => child(directory, name), draft.files.getPath(parent))
    draft.apply({ op: 'mkdir', path, parents: true })
    let directory = parent
    for (const [index, { name }] of inodes.entries()) {
      directory = draft.findInode({ parent: directory, name }) ?? directory
      this.#recordCreated(chain[index] ?? 0, directory)
    }
    return true
  }

  /** Creates a directory of theirs, beside another entry if its path is taken. */
  #recreateDirectory(theirs: number): void {
    const { sides } = this.#context
    const { parent, name } = sides.theirs.getInode(theirs)
    const directory = this.#findOurs(parent)
    if (directory === undefined) {
      this.#oursByTheirs.set(theirs, undefined)
      return
    }
    const path = child(sides.theirs.getPath(parent), name)
    const triple = { base: undefined, ours: undefined, theirs }
    const move = { triple, from: undefined, to: { parent, name }, path, isContested: false }
    const dentry = this.#freeTarget(move, { parent: directory, name })
    if (dentry === undefined) this.#oursByTheirs.set(theirs, undefined)
    else if (dentry !== 'in-place') this.#createInode(theirs, dentry)
  }

  /** Returns our inode for a directory of theirs, if it exists by now. */
  #findOurs(theirs: number): number | undefined {
    const { matchers, draft } = this.#context
    if (this.#oursByTheirs.has(theirs)) return this.#oursByTheirs.get(theirs)
    const base = matchers.theirsToBase.findMatch(theirs)
    const ours = base === undefined ? undefined : matchers.baseToOurs.findMatch(base)
    return draft.hasInode(ours) ? ours : undefined
  }

  #findInode({ ours, theirs }: InodeTriple & { readonly theirs: number }): number | undefined {
    const number = ours ?? this.#oursByTheirs.get(theirs)
    return this.#context.draft.hasInode(number) ? number : undefined
  }
}

function toDentryKey({ parent, name }: Dentry): string {
  return `${parent}/${name}`
}
