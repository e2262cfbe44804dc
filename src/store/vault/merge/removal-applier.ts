import { type Dentry, listDentries } from '../../files/directory-entries.ts'
import { ROOT_INODE } from '../../files/vault-files.ts'
import { type InodeTriple, isSameDentries, sortInnermostFirst } from './inode-triples.ts'
import type { MergeContext } from './merge-context.ts'
import { isAside, type MergeDraft } from './merge-draft.ts'
import { findNamedInode } from './merge-sides.ts'

/** Removes from our tree what they removed: files at once, directories when nothing is left in them. */
export class RemovalApplier {
  readonly #context: MergeContext
  /** Directories they removed that are not empty yet, the inner ones first. */
  #pendingDirectories = new Set<number>()
  /** Where those of them were that had to give way already. */
  readonly #setAside = new Map<number, Dentry>()

  constructor(parts: MergeContext) {
    this.#context = parts
  }

  begin(tracks: readonly InodeTriple[]): void {
    const directories = new Set<number>()
    for (const { base, ours, theirs } of tracks) {
      if (base === undefined || ours === undefined || theirs !== undefined) continue
      if (this.#context.sides.base.getInode(base).type !== 'directory') this.#removeFile(base, ours)
      else directories.add(ours)
    }
    this.#pendingDirectories = sortInnermostFirst(this.#context.sides.ours, directories)
    this.#removeEmpty()
  }

  /** Removes the directories that are empty by now. What we put into one keeps it. */
  finish(): void {
    this.#removeEmpty()
    for (const number of this.#pendingDirectories) this.#moveBack(number)
  }

  /** Takes a directory out of the way if it goes, and everything in it leaves it: `isLeft` tells of a place. */
  tryMoveAside(directory: number, isLeft: (place: Dentry) => boolean): boolean {
    if (!this.#isBecomingEmpty(directory, isLeft)) return false
    const { parent, name } = this.#context.draft.files.getInode(directory)
    this.#setAside.set(directory, { parent, name })
    this.#context.draft.moveAside({ parent, name })
    return true
  }

  /** A directory with nothing in it but such directories goes with all of them. */
  #removeEmpty(): void {
    const { files } = this.#context.draft
    const empty = new Set<number>()
    for (const number of this.#pendingDirectories)
      if (files.listEntries(number).every(({ inode }) => empty.has(inode))) empty.add(number)
    this.#pendingDirectories = this.#pendingDirectories.difference(empty)
    for (const { parent, name } of Array.from(empty, (number) => files.getInode(number)))
      if (!empty.has(parent) || this.#isAside(parent)) this.#context.draft.unlink({ parent, name })
  }

  /** Only by their paths can directories be removed together, and out of the way there are none. */
  #isAside(directory: number): boolean {
    return this.#setAside.size > 0 && isAside(this.#context.draft.files.getPath(directory))
  }

  #isBecomingEmpty(directory: number, isLeft: (place: Dentry) => boolean): boolean {
    const pending = [directory]
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      if (!this.#pendingDirectories.has(at)) return false
      for (const { name, inode } of this.#context.draft.files.listEntries(at))
        if (!isLeft({ parent: at, name })) pending.push(inode)
    }
    return true
  }

  /** Something in it could not leave after all. */
  #moveBack(number: number): void {
    const place = this.#setAside.get(number)
    if (place === undefined) return
    const parent = this.#context.draft.hasInode(place.parent) ? place.parent : ROOT_INODE
    const back = this.#context.draft.findFreeDentry(
      { parent, name: place.name },
      this.#context.sides.names.ours,
    )
    this.#context.draft.move(this.#context.draft.files.getInode(number), back)
  }

  #removeFile(base: number, ours: number): void {
    if (this.#isChangedByUs(base, ours)) {
      this.#context.conflicts.add(this.#context.sides.base.getPath(base), { base, ours, theirs: undefined })
      if (this.#context.conflicts.resolution !== 'theirs') return
    }
    for (const place of listDentries(this.#context.sides.ours, ours, this.#context.sides.ours.getInode(ours)))
      this.#context.draft.unlink(place)
  }

  /** Whether we changed or moved a file. */
  #isChangedByUs(base: number, ours: number): boolean {
    // Where the trees share the page, it is the very same object.
    if (this.#context.sides.base.getInode(base) === this.#context.sides.ours.getInode(ours)) return false
    const isMoved = !isSameDentries(
      this.#context.dentries.listBase(base),
      this.#context.dentries.listOurs(ours),
    )
    return isMoved || this.#context.contents.isChanged(base, this.#context.sides.ours, ours)
  }
}

/** Names they took from a file that has others. */
export function unlinkNames(draft: MergeDraft, places: Iterable<Dentry>, number: number): void {
  for (const place of places) {
    const isLast = findNamedInode(draft.files, number)?.links === 1
    if (!isLast && draft.findInode(place) === number) draft.unlink(place)
  }
}
