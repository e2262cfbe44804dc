import { type Dentry, listDentries } from '../../files/directory-entries.ts'
import { ROOT_INODE } from '../../files/vault-files.ts'
import { hasSameDentries, type InodeTriple, sortInnermostFirst } from './inode-triples.ts'
import type { MergeContext } from './merge-context.ts'
import { isAside, type MergeDraft } from './merge-draft.ts'
import { findNamedInode } from './merge-sides.ts'

/** Applies their removals to our tree: files immediately, directories once they are empty. */
export class RemovalApplier {
  readonly #context: MergeContext
  /** Directories they removed that are not empty yet, inner ones first. */
  #pendingDirectories = new Set<number>()
  /** Original dentries of removed directories that were moved aside. */
  readonly #setAside = new Map<number, Dentry>()

  constructor(context: MergeContext) {
    this.#context = context
  }

  /** Removes the files they removed, and the directories that are empty then. */
  begin(triples: readonly InodeTriple[]): void {
    const directories = new Set<number>()
    for (const { base, ours, theirs } of triples) {
      if (base === undefined || ours === undefined || theirs !== undefined) continue
      if (this.#context.sides.base.getInode(base).type !== 'directory') this.#removeFile(base, ours)
      else directories.add(ours)
    }
    this.#pendingDirectories = sortInnermostFirst(this.#context.sides.ours, directories)
    this.#removeEmpty()
  }

  /** Removes directories that are empty by now. An entry we added keeps its directory. */
  finish(): void {
    this.#removeEmpty()
    for (const number of this.#pendingDirectories) this.#moveBack(number)
  }

  /** Moves a directory aside if it is to be removed and `isLeaving` holds for every dentry in it. */
  tryMoveAside(directory: number, isLeaving: (dentry: Dentry) => boolean): boolean {
    if (!this.#isBecomingEmpty(directory, isLeaving)) return false
    const { parent, name } = this.#context.draft.files.getInode(directory)
    this.#setAside.set(directory, { parent, name })
    this.#context.draft.moveAside({ parent, name })
    return true
  }

  /** Removes a directory that contains only empty removed directories, with all of them. */
  #removeEmpty(): void {
    const { files } = this.#context.draft
    const empty = new Set<number>()
    for (const number of this.#pendingDirectories)
      if (files.listEntries(number).every(({ inode }) => empty.has(inode))) empty.add(number)
    this.#pendingDirectories = this.#pendingDirectories.difference(empty)
    for (const { parent, name } of Array.from(empty, (number) => files.getInode(number)))
      if (!empty.has(parent) || this.#isAside(parent)) this.#context.draft.unlink({ parent, name })
  }

  /** Reports whether a directory was moved aside: it has no path to be removed by. */
  #isAside(directory: number): boolean {
    return this.#setAside.size > 0 && isAside(this.#context.draft.files.getPath(directory))
  }

  /** Reports whether a directory is to be removed with everything in it that does not leave. */
  #isBecomingEmpty(directory: number, isLeaving: (dentry: Dentry) => boolean): boolean {
    const pending = [directory]
    for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
      if (!this.#pendingDirectories.has(parent)) return false
      for (const { name, inode } of this.#context.draft.files.listEntries(parent))
        if (!isLeaving({ parent, name })) pending.push(inode)
    }
    return true
  }

  /** Moves a directory back, since an entry in it has to stay. */
  #moveBack(number: number): void {
    const dentry = this.#setAside.get(number)
    if (dentry === undefined) return
    const parent = this.#context.draft.hasInode(dentry.parent) ? dentry.parent : ROOT_INODE
    const target = this.#context.draft.findFreeDentry(
      { parent, name: dentry.name },
      this.#context.sides.names.ours,
    )
    this.#context.draft.move(this.#context.draft.files.getInode(number), target)
  }

  /** Removes a file, unless we changed it and the conflict keeps ours. */
  #removeFile(base: number, ours: number): void {
    if (this.#isChangedByUs(base, ours)) {
      const inodes = { base, ours, theirs: undefined }
      const path = this.#context.sides.base.getPath(base)
      if (this.#context.conflicts.resolve(path, inodes) !== 'theirs') return
    }
    for (const dentry of listDentries(
      this.#context.sides.ours,
      ours,
      this.#context.sides.ours.getInode(ours),
    ))
      this.#context.draft.unlink(dentry)
  }

  /** Reports whether we changed or moved a file. */
  #isChangedByUs(base: number, ours: number): boolean {
    // Trees that share the page share the object.
    if (this.#context.sides.base.getInode(base) === this.#context.sides.ours.getInode(ours)) return false
    const isMoved = !hasSameDentries(
      this.#context.dentries.listBase(base),
      this.#context.dentries.listOurs(ours),
    )
    return isMoved || this.#context.contents.isChanged(base, this.#context.sides.ours, ours)
  }
}

/** Removes names of a file, but never its last one. */
export function unlinkNames(draft: MergeDraft, dentries: Iterable<Dentry>, number: number): void {
  for (const dentry of dentries) {
    const isLast = findNamedInode(draft.files, number)?.links === 1
    if (!isLast && draft.findInode(dentry) === number) draft.unlink(dentry)
  }
}
