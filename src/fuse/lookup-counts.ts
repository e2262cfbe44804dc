import type { InodeFs } from './inode-fs.ts'

/** Number of forgotten inodes released in one commit. */
const RELEASE_BATCH = 128
const ROOT_INODE = 1

/**
 * Lookup counts of the inodes that the kernel knows. The kernel opens files without a request, so each of them may be
 * open. Such an inode stays in the file system, named or not, until the kernel forgets it.
 */
export class LookupCounts {
  readonly #files: InodeFs
  readonly #counts = new Map<number, number>()
  #forgotten: number[] = []

  constructor(files: InodeFs) {
    this.#files = files
  }

  /** Counts one more lookup of an inode. */
  increment(ino: number): void {
    const count = this.#counts.get(ino) ?? 0
    if (count === 0) this.#files.open(ino)
    this.#counts.set(ino, count + 1)
  }

  /** Counts the first lookup of a file that was created open. */
  addOpen(ino: number): void {
    this.#counts.set(ino, 1)
  }

  /** Subtracts lookups. Returns true once the kernel no longer knows the inode. */
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

  /** Releases the forgotten inodes; those without a name are removed. */
  releaseForgotten(): void {
    const forgotten = this.#forgotten
    if (forgotten.length === 0) return
    this.#forgotten = []
    this.#files.batch(() => {
      for (const ino of forgotten) this.#files.release(ino)
    })
  }

  /** Releases every inode after the kernel has disconnected. */
  clear(): void {
    this.#forgotten.push(...this.#counts.keys())
    this.#counts.clear()
    this.releaseForgotten()
  }
}
