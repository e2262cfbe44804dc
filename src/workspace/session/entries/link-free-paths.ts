import { dirname, join } from 'node:path'
import { VfsError } from '../../../vfs/index.ts'
import { findEntryStats } from './entry-stats.ts'

/** Finds paths of a tree that lead through directories alone: a path through a link may leave the tree. */
export class LinkFreePaths {
  readonly #root: string
  readonly #directories = new Set(['/'])

  constructor(root: string) {
    this.#root = root
  }

  /** True if all names above a path are directories. */
  isReachable(path: string): boolean {
    return this.#isDirectory(dirname(path))
  }

  /** Throws ECONFLICT for a path that is no directory, or leads through a link. */
  assertDirectory(path: string): void {
    if (this.#isDirectory(path)) return
    const detail = `${path} is no longer a directory, and a file has to be put into it; try again`
    throw new VfsError('ECONFLICT', path, { op: 'session', detail })
  }

  #isDirectory(path: string): boolean {
    if (this.#directories.has(path)) return true
    const isDirectory =
      this.isReachable(path) && findEntryStats(join(this.#root, path))?.isDirectory() === true
    if (isDirectory) this.#directories.add(path)
    return isDirectory
  }
}
