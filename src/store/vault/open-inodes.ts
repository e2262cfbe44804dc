import { Files } from '../files/files.ts'
import type { FileOperation } from '../files/operation.ts'

/** An inode that somebody has open. */
export interface OpenInode {
  readonly number: number
  /** The files with it, as they were when it was removed; undefined as long as it is there. */
  readonly lost: Files | undefined
  /** Says that one of those who opened it is done. */
  close(): void
}

interface Opened {
  count: number
  /** The files as they were before the last removal of anything. */
  last: Files | undefined
  /** They were the last ones with this inode, and that is committed: its number may come to name another file. */
  isLost: boolean
}

/**
 * Which inodes of a vault are open in this process, and what they were when somebody removed them, whoever that was.
 * Nothing of it is stored, so a killed process leaves nothing behind. Only on an engine that is local.
 */
export class OpenInodes {
  readonly #opened = new Map<number, Opened>()
  #mayHaveLost = false

  open(number: number): OpenInode {
    const opened = this.#opened.get(number) ?? { count: 0, last: undefined, isLost: false }
    // A lost one is known to those who have it open; under its number there is another by now.
    const entry = opened.isLost ? { count: 0, last: undefined, isLost: false } : opened
    this.#opened.set(number, entry)
    entry.count++
    return {
      number,
      get lost() {
        return entry.isLost ? entry.last : undefined
      },
      close: () => {
        if (--entry.count === 0 && this.#opened.get(number) === entry) this.#opened.delete(number)
      },
    }
  }

  /** An operation is about to be applied to the files. */
  beforeOperation(files: Files, operation: FileOperation): void {
    if (this.#opened.size > 0 && mayRemove(operation)) this.beforeRemoval(files)
  }

  /** The files are about to become others. */
  beforeRemoval(files: Files): void {
    if (this.#opened.size === 0) return
    const before = new Files(files.tree.fork())
    for (const [number, opened] of this.#opened) {
      if (!opened.isLost && files.inodeIfPresent(number) !== undefined) opened.last = before
    }
    this.#mayHaveLost = true
  }

  /** What was applied to the files is committed. */
  settle(files: Files): void {
    if (!this.#mayHaveLost) return
    this.#mayHaveLost = false
    for (const [number, opened] of this.#opened) {
      if (opened.isLost) continue
      if (files.inodeIfPresent(number) !== undefined) opened.last = undefined
      else {
        opened.isLost = true
        // No record names this tree: a garbage collection has to be told.
        opened.last?.tree.hold()
      }
    }
  }
}

/** Whether an inode may be gone afterwards. */
function mayRemove({ op }: FileOperation): boolean {
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
