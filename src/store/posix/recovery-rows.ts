import type { FileOperation, ReplacedVersion } from '../files/operation.ts'

/**
 * The rows of the journal that the operations of a draft become if they are found one by one after a kill. In the draft
 * all have the version of the one row they are to be together; in rows of their own each follows an earlier one.
 */
export class RecoveryRows {
  readonly #first: number
  #count = 0
  /** Which of them changed the content of an inode last. */
  #byInode = new Map<number, number>()

  /** @param first is the row that everything is to be together, and the first of many otherwise. */
  constructor(first: number) {
    this.#first = first
  }

  /** Whether any content was changed, so that an operation may follow one of these rows. */
  get hasContent(): boolean {
    return this.#byInode.size > 0
  }

  /** The next row is an operation about an inode. What it replaces there, told what it replaces in the draft. */
  add({ op }: FileOperation, inode: number | undefined, replaced: ReplacedVersion): ReplacedVersion {
    const row = this.#first + this.#count++
    const before = inode === undefined ? undefined : this.#byInode.get(inode)
    if (inode !== undefined && (op === 'create' || op === 'patch' || op === 'batch'))
      this.#byInode.set(inode, row)
    return this.#toRowVersion(replaced, before ?? row)
  }

  /** What takes everything back that comes after this. */
  createSavepoint(): () => void {
    const [count, byInode] = [this.#count, new Map(this.#byInode)]
    return () => {
      this.#count = count
      this.#byInode = byInode
    }
  }

  #toRowVersion(replaced: ReplacedVersion, row: number): ReplacedVersion {
    if (typeof replaced === 'number') return replaced === this.#first ? row : replaced
    return replaced === null ? null : replaced.map((each) => this.#toRowVersion(each, row))
  }
}
