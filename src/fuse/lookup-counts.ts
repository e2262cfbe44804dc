import type { InodeFs } from './inode-fs.ts'

/** So many inodes the kernel has forgotten are let go of in one commit. */
const RELEASE_BATCH = 128
const ROOT_INODE = 1

/**
 * The inodes the kernel knows, and how often it was told of each. Since it opens files without asking, what it knows
 * may be open: it stays in the file system, named or not, until the kernel has forgotten it.
 */
export class LookupCounts {
  readonly #files: InodeFs
  readonly #counts = new Map<number, number>()
  #forgotten: number[] = []

  constructor(files: InodeFs) {
    this.#files = files
  }

  /** The kernel is about to be told of an inode once more. */
  increment(ino: number): void {
    const count = this.#counts.get(ino) ?? 0
    if (count === 0) this.#files.open(ino)
    this.#counts.set(ino, count + 1)
  }

  /** The same, of a file that was made open. */
  addOpen(ino: number): void {
    this.#counts.set(ino, 1)
  }

  /** The kernel forgets that it was told so many times. True if it does not know the inode any more. */
  forget(ino: number, times: number): boolean {
    const count = this.#counts.get(ino)
    if (count === undefined || ino === ROOT_INODE) return false
    if (count > times) {
      this.#counts.set(ino, count - times)
      return false
    }
    this.#counts.delete(ino)
    this.#forgotten.push(ino)
    if (this.#forgotten.length >= RELEASE_BATCH) this.releaseForgotten()
    return true
  }

  /** Lets go of what was forgotten: files that lost their last name meanwhile are gone afterwards. */
  releaseForgotten(): void {
    const forgotten = this.#forgotten
    if (forgotten.length === 0) return
    this.#forgotten = []
    this.#files.batch(() => {
      for (const ino of forgotten) this.#files.release(ino)
    })
  }

  /** The kernel is gone, and with it everything it knew. */
  clear(): void {
    this.#forgotten.push(...this.#counts.keys())
    this.#counts.clear()
    this.releaseForgotten()
  }
}
