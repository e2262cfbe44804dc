import { applyOperation } from '../files/apply.ts'
import { Files, type Moment } from '../files/files.ts'
import type { FileOperation, InodeOperation } from '../files/operation.ts'
import type { NodeRef } from '../tree/node.ts'
import type { TreeValue } from '../tree/records.ts'
import { assertWithinQuota, type Quota } from '../vault/quota.ts'

type Patch = Extract<InodeOperation, { readonly op: 'patch' }>

/** Mutations that are to be committed together, on a copy of the files where each can be seen at once. */
export class Draft {
  readonly files: Files
  readonly quota: Quota
  readonly #base: NodeRef<TreeValue>
  readonly #moment: Moment
  #operations: FileOperation[] = []
  /** Where the last operation on an inode is, if that is a patch. */
  readonly #patches = new Map<number, number>()

  constructor(files: Files, moment: Moment, quota: Quota) {
    this.files = new Files(files.tree.fork())
    this.#base = this.files.tree.snapshot()
    this.#moment = moment
    this.quota = quota
  }

  /** Applies an operation; one that throws has changed nothing. */
  add(operation: FileOperation): void {
    const { changes } = this.files.tree
    const isShrinking =
      operation.op === 'patch' && operation.size < (this.files.inodeIfPresent(operation.inode)?.size ?? 0)
    try {
      this.#apply(operation)
    } catch (error) {
      // Nearly every refusal comes before the first change; the few others cost a second pass.
      if (this.files.tree.changes !== changes) this.#applyAllAgain()
      throw error
    }
    this.#note(operation)
    // What comes next must find it done: joined with something larger, it would take nothing away.
    if (isShrinking) this.#patches.delete(operation.inode)
  }

  /** Everything as one operation; null if there is nothing. */
  get operation(): FileOperation | null {
    const [first, ...more] = this.#operations
    if (first === undefined) return null
    return more.length === 0 ? first : { op: 'batch', path: '/', operations: this.#operations }
  }

  #apply(operation: FileOperation): void {
    const before = this.files.counters()
    applyOperation(this.files, operation, this.#moment)
    assertWithinQuota(this.quota, operation, before, this.files.counters())
  }

  #applyAllAgain(): void {
    this.files.tree.reset(this.#base)
    for (const operation of this.#operations) applyOperation(this.files, operation, this.#moment)
  }

  /** Several patches of a file become one, so that the journal tells of one version: the one there is at the end. */
  #note(operation: FileOperation): void {
    if (operation.op === 'patch') {
      const index = this.#patches.get(operation.inode)
      const earlier = index === undefined ? undefined : this.#operations[index]
      const both = earlier?.op === 'patch' ? joined(earlier, operation) : undefined
      if (index !== undefined && both !== undefined) {
        this.#operations[index] = both
        return
      }
      this.#patches.set(operation.inode, this.#operations.length)
    } else if ('inode' in operation) this.#patches.delete(operation.inode)
    else if ('operations' in operation) this.#patches.clear()
    this.#operations.push(operation)
  }
}

/** Two patches as one, if both leave the file at least as large and bring the same form of content. */
function joined(first: Patch, second: Patch): Patch | undefined {
  if (second.size < first.size || (first.inline === undefined) !== (second.inline === undefined))
    return undefined
  if (second.inline !== undefined) return second
  return { ...second, chunks: [...new Map([...first.chunks, ...second.chunks])].sort(byIndex) }
}

function byIndex([one]: Patch['chunks'][number], [other]: Patch['chunks'][number]): number {
  return one - other
}
