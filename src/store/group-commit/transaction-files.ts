import { type Moment, type NamedEntry, VaultFiles } from '../files/vault-files.ts'
import type { Counters } from '../tree/counters.ts'
import type { Tree } from '../tree/tree.ts'
import type { DirectoryEntry, Inode, TreeValue } from '../tree/tree-values.ts'
import type { PendingCreates } from './pending-creates.ts'

/**
 * Read-only files of a transaction. A lookup by number or by name includes the pending creates. A listing applies them
 * to the tree first.
 */
export class TransactionFiles extends VaultFiles {
  readonly #pendingCreates: PendingCreates
  readonly #moment: Moment
  readonly #applyPendingCreates: () => void

  constructor(
    tree: Tree<TreeValue>,
    pendingCreates: PendingCreates,
    moment: Moment,
    applyPendingCreates: () => void,
  ) {
    super(tree)
    this.#pendingCreates = pendingCreates
    this.#moment = moment
    this.#applyPendingCreates = applyPendingCreates
  }

  override findInode(number: number): Inode | undefined {
    const inode = this.#pendingCreates.findInode(number) ?? super.findInode(number)
    if (inode === undefined || !this.#pendingCreates.hasEntriesIn(number)) return inode
    return { ...inode, mtime: this.#moment.time, ctime: this.#moment.time }
  }

  override getPath(number: number): string {
    return this.#pendingCreates.findPath(number) ?? super.getPath(number)
  }

  override findEntry(directory: number, name: string): DirectoryEntry | undefined {
    return this.#pendingCreates.findEntry(directory, name) ?? super.findEntry(directory, name)
  }

  override getCounters(): Counters {
    const counters = super.getCounters()
    const { count, bytes } = this.#pendingCreates
    return {
      ...counters,
      nextInode: counters.nextInode + count,
      files: counters.files + count,
      bytes: counters.bytes + bytes,
    }
  }

  override *listEntries(directory: number, from?: string): Generator<NamedEntry> {
    this.#applyPendingCreates()
    yield* super.listEntries(directory, from)
  }

  override mapEntriesAfter<T>(
    directory: number,
    last: string | undefined,
    limit: number,
    toItem: (name: string, entry: DirectoryEntry) => T,
  ): T[] {
    this.#applyPendingCreates()
    return super.mapEntriesAfter(directory, last, limit, toItem)
  }

  override hasEntries(directory: number): boolean {
    this.#applyPendingCreates()
    return super.hasEntries(directory)
  }
}
