import type { FileOperation } from '../files/operation.ts'
import { VaultFiles } from '../files/vault-files.ts'
import type { StoreSession } from '../sessions/store-session.ts'
import type { Inode } from '../tree/tree-values.ts'

/** An inode that somebody has open. */
export interface OpenInode {
  readonly number: number
  /** Whether it has no name any more, as far as is planned: its number may name another file already. */
  readonly isGone: boolean
  /** The files with it, as they were when it was removed; undefined as long as it is there. */
  readonly lost: VaultFiles | undefined
  /** Says that one of those who opened it is done. */
  close(): void
}

interface OpenState {
  count: number
  /** The files as they were before the last removal of anything. */
  last: VaultFiles | undefined
  /** It was removed, as far as is planned, and its number may have been given to another file. */
  isGone: boolean
  /** They were the last ones with this inode, and that is committed: its number may come to name another file. */
  isLost: boolean
}

/**
 * Which inodes of a vault are open in this process, and what they were when somebody removed them, whoever that was.
 * Nothing of it is stored, so a killed process leaves nothing behind. Only on an engine that is local.
 */
export class OpenInodes {
  readonly #states = new Map<number, OpenState>()
  #hasPendingRemovals = false
  #wasRestored = false
  readonly #session: StoreSession | undefined

  /** @param session keeps what was lost from collection; undefined for files that no collection touches. */
  constructor(session?: StoreSession) {
    this.#session = session
  }

  /** Whether nothing is open. */
  get isEmpty(): boolean {
    return this.#states.size === 0
  }

  open(number: number): OpenInode {
    const opened = this.#states.get(number)
    // A lost one is known to those who have it open; under its number there is another by now.
    const isKnown = opened !== undefined && !opened.isLost
    const entry = isKnown ? opened : { count: 0, last: undefined, isGone: false, isLost: false }
    this.#states.set(number, entry)
    entry.count++
    if (this.#states.size === 1 && entry.count === 1) this.#session?.updateHolds(true)
    return {
      number,
      get isGone() {
        return entry.isGone
      },
      get lost() {
        return entry.isLost ? entry.last : undefined
      },
      close: () => {
        if (--entry.count > 0 || this.#states.get(number) !== entry) return
        this.#states.delete(number)
        if (this.#states.size === 0) this.#session?.updateHolds(false)
      },
    }
  }

  /** An operation is about to be applied to the files. */
  beforeOperation(files: VaultFiles, operation: FileOperation): void {
    if (this.#states.size === 0) return
    this.#afterRestore(files)
    if (canRemoveInodes(operation)) this.beforeRemoval(files)
    this.#wasRestored = operation.op === 'restore'
  }

  /** The files are about to become others. */
  beforeRemoval(files: VaultFiles): void {
    if (this.#states.size === 0) return
    const before = new VaultFiles(files.tree.fork())
    for (const [number, opened] of this.#states) {
      if (!opened.isLost && !opened.isGone && files.findInode(number) !== undefined) opened.last = before
    }
    this.#hasPendingRemovals = true
  }

  /** The files are later ones, of which the operations in between are not known. */
  afterCatchUp(files: VaultFiles): void {
    for (const [number, opened] of this.#states) {
      if (opened.last !== undefined && files.findInode(number) === undefined) opened.isGone = true
    }
  }

  /** What was planned is not going to be. */
  rollBack(): void {
    for (const opened of this.#states.values()) opened.isGone = opened.isLost
    this.#wasRestored = false
  }

  /** What was applied to the files is committed. */
  commit(files: VaultFiles): void {
    if (!this.#hasPendingRemovals) return
    this.#afterRestore(files)
    this.#hasPendingRemovals = false
    for (const [number, opened] of this.#states) {
      if (opened.isLost) continue
      if (!opened.isGone && files.findInode(number) !== undefined) opened.last = undefined
      else {
        opened.isGone = true
        opened.isLost = true
        // No record names this tree any more.
        if (opened.last !== undefined) this.#session?.hold(opened.last.tree)
      }
    }
  }

  /** Numbers are given out again only after a restore: looked at before anything else happens to the files. */
  #afterRestore(files: VaultFiles): void {
    if (!this.#wasRestored) return
    this.#wasRestored = false
    for (const [number, opened] of this.#states) {
      if (opened.last === undefined) continue
      const now = files.findInode(number)
      if (now === undefined || !isSameFile(opened.last.getInode(number), now)) opened.isGone = true
    }
  }
}

/**
 * Whether an inode of a tree that was brought back is the file that has its number now: the same version of it, or at
 * the same place. One that was both moved and changed meanwhile counts as another, so that nothing is written to the
 * wrong file.
 */
function isSameFile(one: Inode, other: Inode): boolean {
  return one.version === other.version || (one.parent === other.parent && one.name === other.name)
}

/** Whether an inode may be gone afterwards. */
function canRemoveInodes({ op }: FileOperation): boolean {
  switch (op) {
    case 'remove':
    case 'rename':
    case 'unlink':
    case 'release':
    case 'move':
    case 'batch':
    case 'merge':
    case 'restore':
      return true
    default:
      return false
  }
}
