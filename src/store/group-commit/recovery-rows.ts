import type { FileOperation, ReplacedVersion } from '../files/operation.ts'

/**
 * Journal rows that the operations of a transaction become if a kill leaves them in the side log one by one. In the
 * transaction all have the version of its single row. In rows of their own, each version follows an earlier row.
 */
export class RecoveryRows {
  readonly #first: number
  #count = 0
  /** Row that changed the content of an inode last. */
  #byInode = new Map<number, number>()

  /** @param first number of the transaction's row, and of the first recovery row. */
  constructor(first: number) {
    this.#first = first
  }

  /** True if an earlier row changed content, so that later ones may follow it. */
  get hasContent(): boolean {
    return this.#byInode.size > 0
  }

  /**
   * Adds the row of an operation on an inode.
   * @param replaced versions that it replaced in the transaction.
   * @returns the versions that it replaces in a row of its own.
   */
  add({ op }: FileOperation, inode: number | undefined, replaced: ReplacedVersion): ReplacedVersion {
    const row = this.#first + this.#count++
    const before = inode === undefined ? undefined : this.#byInode.get(inode)
    if (inode !== undefined && (op === 'create' || op === 'patch' || op === 'batch'))
      this.#byInode.set(inode, row)
    return this.#toRowVersion(replaced, before ?? row)
  }

  /** Returns a function that removes all rows added later. */
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
