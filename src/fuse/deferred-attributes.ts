import { isVfsError } from '../vfs/index.ts'
import type { InodeAttributes, InodeChanges, InodeFs, InodeTime } from './inode-fs.ts'

/** A change with its times resolved, so that it can be applied later. */
interface DeferredChange extends InodeChanges {
  readonly ctime: InodeTime
}

/** Bits of a mode with the file type. */
const FORMAT = 0o170000
const REGULAR = 0o100000
/** Number of deferred changes that forces a commit. */
const MAX_DEFERRED = 256

/**
 * Attribute changes of files that are not committed yet. A program that unpacks files sets the times, owner and mode of
 * each one by one. Those changes are deferred and committed with the next other change. A file system with group commit
 * needs no deferral.
 * `get` includes them at once. Only a killed server loses any, and never content or a name.
 */
export class DeferredAttributes {
  readonly #files: InodeFs
  readonly #deferred = new Map<number, DeferredChange>()

  constructor(files: InodeFs) {
    this.#files = files
  }

  /** Number of inodes with deferred changes. */
  get size(): number {
    return this.#deferred.size
  }

  /** Returns an inode's attributes, including deferred changes. */
  get(ino: number): InodeAttributes {
    return applyDeferred(this.#files.getattr(ino), this.#deferred.get(ino))
  }

  /**
   * Sets attributes and returns them. Defers the change unless it sets a size, the inode is no regular file, or the file
   * system has group commit. ENOENT.
   */
  set(ino: number, changes: InodeChanges): InodeAttributes {
    if (this.#files.usesGroupCommit || changes.size !== undefined) return this.#setNow(ino, changes)
    const attributes = this.#files.getattr(ino)
    if ((attributes.mode & FORMAT) !== REGULAR) return this.#setNow(ino, changes)
    const change = { ...this.#deferred.get(ino), ...resolveTimes(changes, getCurrentTime()) }
    this.#deferred.set(ino, change)
    if (this.#deferred.size >= MAX_DEFERRED) this.commit()
    return applyDeferred(attributes, change)
  }

  /** Commits a change together with all deferred ones. If it fails, those stay deferred. */
  commitWith<Result>(change: () => Result): Result {
    if (this.#deferred.size === 0) return change()
    // A batch may run several times; the last run counts.
    let outcome: { readonly result: Result } | undefined
    this.#files.batch(() => {
      for (const [ino, { ctime: _, ...changes }] of this.#deferred) this.#setIfPresent(ino, changes)
      outcome = { result: change() }
    })
    this.#deferred.clear()
    if (outcome === undefined) throw new TypeError('a batch did not run')
    return outcome.result
  }

  commit(): void {
    this.commitWith(() => {})
  }

  #setNow(ino: number, changes: InodeChanges): InodeAttributes {
    this.commitWith(() => this.#files.setattr(ino, changes))
    return this.get(ino)
  }

  /** Sets attributes, unless another process has removed the file. */
  #setIfPresent(ino: number, changes: InodeChanges): void {
    try {
      this.#files.setattr(ino, changes)
    } catch (error) {
      if (!isVfsError(error, 'ENOENT')) throw error
    }
  }
}

function applyDeferred(attributes: InodeAttributes, change: DeferredChange | undefined): InodeAttributes {
  if (change === undefined) return attributes
  const { mode = attributes.mode, size: _, atime, mtime, ...others } = change
  return {
    ...attributes,
    ...others,
    mode: (attributes.mode & FORMAT) | (mode & ~FORMAT),
    ...(atime !== undefined && atime !== 'now' && { atime }),
    ...(mtime !== undefined && mtime !== 'now' && { mtime }),
  }
}

function resolveTimes({ atime, mtime, ...others }: InodeChanges, moment: InodeTime): DeferredChange {
  return {
    ...others,
    ...(atime !== undefined && { atime: atime === 'now' ? moment : atime }),
    ...(mtime !== undefined && { mtime: mtime === 'now' ? moment : mtime }),
    ctime: moment,
  }
}

function getCurrentTime(): InodeTime {
  const ms = Date.now()
  const seconds = Math.floor(ms / 1000)
  return { seconds, nanos: (ms - seconds * 1000) * 1_000_000 }
}
