import { Files, type Moment, type NamedEntry } from '../files/files.ts'
import type { Counters } from '../tree/counters.ts'
import type { DirectoryEntry, Inode, TreeValue } from '../tree/records.ts'
import type { Tree } from '../tree/tree.ts'
import type { Newborns } from './newborns.ts'

/**
 * The files of a draft. What is asked for by number or by name is answered with the newborn ones, which are not in the
 * tree; whoever wants all names of a directory has them put there first. To be read only.
 */
export class DraftedFiles extends Files {
  readonly #newborns: Newborns
  readonly #moment: Moment
  readonly #putInTree: () => void

  constructor(tree: Tree<TreeValue>, newborns: Newborns, moment: Moment, putInTree: () => void) {
    super(tree)
    this.#newborns = newborns
    this.#moment = moment
    this.#putInTree = putInTree
  }

  override inodeIfPresent(number: number): Inode | undefined {
    const inode = this.#newborns.inode(number) ?? super.inodeIfPresent(number)
    if (inode === undefined || !this.#newborns.isIn(number)) return inode
    return { ...inode, mtime: this.#moment.time, ctime: this.#moment.time }
  }

  override pathOf(number: number): string {
    return this.#newborns.pathOf(number) ?? super.pathOf(number)
  }

  override entry(directory: number, name: string): DirectoryEntry | undefined {
    return this.#newborns.entry(directory, name) ?? super.entry(directory, name)
  }

  override counters(): Counters {
    const counters = super.counters()
    const { count, bytes } = this.#newborns
    return {
      ...counters,
      nextInode: counters.nextInode + count,
      files: counters.files + count,
      bytes: counters.bytes + bytes,
    }
  }

  override *entries(directory: number, from?: string): Generator<NamedEntry> {
    this.#putInTree()
    yield* super.entries(directory, from)
  }

  override namesAfter(directory: number, last: string | undefined, limit: number): NamedEntry[] {
    this.#putInTree()
    return super.namesAfter(directory, last, limit)
  }

  override hasEntries(directory: number): boolean {
    this.#putInTree()
    return super.hasEntries(directory)
  }
}
