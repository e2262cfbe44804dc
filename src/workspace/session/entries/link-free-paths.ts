import { dirname, join } from 'node:path'
import { VfsError } from '../../../vfs/index.ts'
import { findEntryStats } from './entry-stats.ts'

/** Which paths of a tree lead through directories alone. What is behind a link is not in the tree, but anywhere. */
export class LinkFreePaths {
  readonly #root: string
  readonly #directories = new Set(['/'])

  constructor(root: string) {
    this.#root = root
  }

  isReachable(path: string): boolean {
    return this.#isDirectory(dirname(path))
  }

  /** ECONFLICT for what is no directory, or behind something that is none. */
  assertDirectory(path: string): void {
    if (this.#isDirectory(path)) return
    const detail = `${path} is no directory any more, and something was to be put into it; try again`
    throw new VfsError('ECONFLICT', path, { op: 'session', detail })
  }

  #isDirectory(path: string): boolean {
    if (this.#directories.has(path)) return true
    const isOne = this.isReachable(path) && findEntryStats(join(this.#root, path))?.isDirectory() === true
    if (isOne) this.#directories.add(path)
    return isOne
  }
}
