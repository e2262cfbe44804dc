import type { FileOperation } from '../files/operation.ts'
import { VaultFiles } from '../files/vault-files.ts'
import type { StoreSession } from '../sessions/store-session.ts'
import type { Inode } from '../tree/tree-values.ts'

/** An open inode. It is unlinked once it has no name, and an orphan once its removal is committed. */
export interface OpenInode {
  readonly number: number
  /** True once it is known to be unlinked, committed or not: its number may already name another file. */
  readonly isUnlinked: boolean
  /** The last snapshot that has the inode; undefined unless it is an orphan. */
  readonly lastFiles: VaultFiles | undefined
  /** Closes one handle. */
  close(): void
}

interface OpenState {
  count: number
  /** Snapshot from before the last removal of any file. */
  lastFiles: VaultFiles | undefined
  isUnlinked: boolean
  /** True once the removal is committed: `lastFiles` is the last snapshot with the inode. */
  isOrphan: boolean
}

/**
 * Tracks the inodes of a vault that are open in this process, with a snapshot of those that any process removed.
 * Nothing is stored, so a killed process leaves nothing behind. Only for local engines: a commit looks up the open
 * inodes and cannot wait for pages.
 */
export class OpenInodes {
  readonly #states = new Map<number, OpenState>()
  #hasPendingRemovals = false
  #wasRestored = false
  readonly #session: StoreSession | undefined

  /** @param session protects those snapshots from collection; undefined for files that no collection touches. */
  constructor(session?: StoreSession) {
    this.#session = session
  }

  /** True if no inode is open. */
  get isEmpty(): boolean {
    return this.#states.size === 0
  }

  /** Adds a handle of an inode. */
  open(number: number): OpenInode {
    const opened = this.#states.get(number)
    // An orphan is known to its handles only; its number may name another file.
    const isOpen = opened !== undefined && !opened.isOrphan
    const entry = isOpen ? opened : { count: 0, lastFiles: undefined, isUnlinked: false, isOrphan: false }
    this.#states.set(number, entry)
    entry.count++
    if (this.#states.size === 1 && entry.count === 1) this.#session?.updateHolds(true)
    return {
      number,
      get isUnlinked() {
        return entry.isUnlinked
      },
      get lastFiles() {
        return entry.isOrphan ? entry.lastFiles : undefined
      },
      close: () => {
        if (--entry.count > 0 || this.#states.get(number) !== entry) return
        this.#states.delete(number)
        if (this.#states.size === 0) this.#session?.updateHolds(false)
      },
    }
  }

  /** Called before an operation is applied to the files. */
  beforeOperation(files: VaultFiles, operation: FileOperation): void {
    if (this.#states.size === 0) return
    this.#afterRestore(files)
    if (canRemoveInodes(operation)) this.beforeRemoval(files)
    this.#wasRestored = operation.op === 'restore'
  }

  /** Called before any file may be removed: keeps a snapshot for the open inodes. */
  beforeRemoval(files: VaultFiles): void {
    if (this.#states.size === 0) return
    const before = new VaultFiles(files.tree.fork())
    for (const [number, opened] of this.#states) {
      if (!opened.isOrphan && !opened.isUnlinked && files.findInode(number) !== undefined)
        opened.lastFiles = before
    }
    this.#hasPendingRemovals = true
  }

  /** Called when the files changed by unknown operations. */
  afterCatchUp(files: VaultFiles): void {
    for (const [number, opened] of this.#states) {
      if (opened.lastFiles !== undefined && files.findInode(number) === undefined) opened.isUnlinked = true
    }
  }

  /** Called when uncommitted operations are rolled back. */
  rollBack(): void {
    for (const opened of this.#states.values()) opened.isUnlinked = opened.isOrphan
    this.#wasRestored = false
  }

  /** Called when the applied operations are committed: unlinked inodes are orphans from here on. */
  commit(files: VaultFiles): void {
    if (!this.#hasPendingRemovals) return
    this.#afterRestore(files)
    this.#hasPendingRemovals = false
    for (const [number, opened] of this.#states) {
      if (opened.isOrphan) continue
      if (!opened.isUnlinked && files.findInode(number) !== undefined) opened.lastFiles = undefined
      else {
        opened.isUnlinked = true
        opened.isOrphan = true
        // No record names this tree any more.
        if (opened.lastFiles !== undefined) this.#session?.hold(opened.lastFiles.tree)
      }
    }
  }

  /**
   * Marks open inodes that a restore removed or replaced. Only a restore reuses numbers, so it runs before other
   * changes.
   */
  #afterRestore(files: VaultFiles): void {
    if (!this.#wasRestored) return
    this.#wasRestored = false
    for (const [number, opened] of this.#states) {
      if (opened.lastFiles === undefined) continue
      const current = files.findInode(number)
      if (current === undefined || !isSameFile(opened.lastFiles.getInode(number), current))
        opened.isUnlinked = true
    }
  }
}

/**
 * Reports whether an inode of a restored tree is the open file with that number: same version or same path. A file
 * both moved and changed counts as another, so that no write reaches the wrong file.
 */
function isSameFile(one: Inode, other: Inode): boolean {
  return one.version === other.version || (one.parent === other.parent && one.name === other.name)
}

/** Reports whether an operation may remove inodes. */
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
