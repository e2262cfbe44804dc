import { type Stats, statSync } from 'node:fs'
import { VfsError } from '../../vfs/index.ts'

/** The file or directory of a store, with its identity at open time. */
export class StoreFile {
  readonly #path: string
  readonly #opened: Stats | undefined

  constructor(path: string) {
    this.#path = path
    this.#opened = statSync(path, { throwIfNoEntry: false })
  }

  /**
   * EIO if it was removed or replaced since: writes to the open file would be lost with the process. Takes two
   * microseconds, so every commit checks it.
   */
  assertPresent(): void {
    const found = statSync(this.#path, { throwIfNoEntry: false })
    if (found !== undefined && found.ino === this.#opened?.ino && found.dev === this.#opened.dev) return
    const fate = found === undefined ? 'removed' : 'replaced'
    const detail = `the store was ${fate} while it was open, so nothing more can be kept; open the home again`
    throw new VfsError('EIO', '/', { op: 'commit', detail })
  }

  /** EUNAVAILABLE if another process has written it since: earlier reads may not match its content now. */
  assertUnchanged(): void {
    const found = statSync(this.#path, { throwIfNoEntry: false })
    if (found?.mtimeMs === this.#opened?.mtimeMs && found?.size === this.#opened?.size) return
    const detail = `${this.#path} was written by another process while it was open for reading only; open the home again`
    throw new VfsError('EUNAVAILABLE', this.#path, { op: 'read', detail })
  }
}
