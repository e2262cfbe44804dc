import { type Stats, statSync } from 'node:fs'
import { VfsError } from '../../vfs/index.ts'

/** The file or directory of a store, as it was when the store was opened. */
export class StoreFile {
  readonly #path: string
  readonly #opened: Stats | undefined

  constructor(path: string) {
    this.#path = path
    this.#opened = statSync(path, { throwIfNoEntry: false })
  }

  /**
   * EIO if it was removed or replaced since: an open file takes whatever is written to it, and is gone with the
   * process. Two microseconds, so it is asked with each commit.
   */
  assertPresent(): void {
    const found = statSync(this.#path, { throwIfNoEntry: false })
    if (found !== undefined && found.ino === this.#opened?.ino && found.dev === this.#opened.dev) return
    const fate = found === undefined ? 'removed' : 'replaced'
    const detail = `the store was ${fate} while it was open, so nothing more can be kept; open the home again`
    throw new VfsError('EIO', '/', { op: 'commit', detail })
  }

  /** EUNAVAILABLE if it was written since, by somebody who may: what was read before may not fit what is there now. */
  assertUnchanged(): void {
    const found = statSync(this.#path, { throwIfNoEntry: false })
    if (found?.mtimeMs === this.#opened?.mtimeMs && found?.size === this.#opened?.size) return
    const detail = `${this.#path} was written by another process while it was open for reading only; open the home again`
    throw new VfsError('EUNAVAILABLE', this.#path, { op: 'read', detail })
  }
}
