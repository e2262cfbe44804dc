import { closeSync, constants, fstatSync, openSync, type Stats, statSync } from 'node:fs'
import { VfsError } from '../../vfs/index.ts'

/** Flag of Linux for a descriptor that only names a file: closing it releases no lock of SQLite's on the same file. */
const O_PATH = 0o10000000
/** Interval at which the path is looked up: a file that was moved away still has a name. */
const PATH_CHECK_INTERVAL_MS = 10

/** The file or directory of a store, with its identity at open time. */
export class StoreFile {
  readonly #path: string
  readonly #statsAtOpen: Stats | undefined
  readonly #fd: number | undefined
  #checkedPathAt = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(path: string) {
    this.#path = path
    this.#statsAtOpen = statSync(path, { throwIfNoEntry: false })
    this.#fd = this.#statsAtOpen === undefined ? undefined : openPathDescriptor(path)
  }

  /**
   * Throws EIO if it was removed or replaced since: writes to the open file would be lost with the process. Called
   * before each commit: it asks the open descriptor whether the file still has a name, and the path now and then.
   */
  assertPresent(): void {
    const now = performance.now()
    if (now - this.#checkedPathAt < PATH_CHECK_INTERVAL_MS && this.#hasName()) return
    const found = statSync(this.#path, { throwIfNoEntry: false })
    if (found !== undefined && found.ino === this.#statsAtOpen?.ino && found.dev === this.#statsAtOpen.dev) {
      this.#checkedPathAt = now
      return
    }
    const fate = found === undefined ? 'removed' : 'replaced'
    const detail = `the store was ${fate} while it was open, so nothing more can be stored; open the home again`
    throw new VfsError('EIO', '/', { op: 'commit', detail })
  }

  /** Throws EUNAVAILABLE if another process has written it since: earlier reads may not match its content now. */
  assertUnchanged(): void {
    const found = statSync(this.#path, { throwIfNoEntry: false })
    if (found?.mtimeMs === this.#statsAtOpen?.mtimeMs && found?.size === this.#statsAtOpen?.size) return
    const detail = `${this.#path} was written by another process while it was open for reading only; open the home again`
    throw new VfsError('EUNAVAILABLE', this.#path, { op: 'read', detail })
  }

  close(): void {
    if (this.#fd !== undefined && !this.#isClosed) closeSync(this.#fd)
    this.#isClosed = true
  }

  #hasName(): boolean {
    return this.#fd !== undefined && !this.#isClosed && fstatSync(this.#fd).nlink > 0
  }
}

/** Opens a descriptor that only names a file; undefined where there is no such thing. */
function openPathDescriptor(path: string): number | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    return openSync(path, constants.O_RDONLY | O_PATH)
  } catch {
    return undefined
  }
}
