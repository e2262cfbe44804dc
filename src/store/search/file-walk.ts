import { child } from '../../vfs/index.ts'
import type { NamedEntry, VaultFiles } from '../files/vault-files.ts'

/** Number of names read in one step: a directory may have millions. */
const ENTRIES_PER_READ = 256

/** A directory that the walk has entered. */
interface WalkLevel {
  readonly path: string
  readonly directory: number
  entries: readonly NamedEntry[]
  /** Index of the next entry. */
  next: number
}

/** A file by one of its names. */
export interface FoundFile {
  readonly path: string
  readonly number: number
}

/** Walks the regular files below a directory, depth first, names in order. A step that faults can be retried. */
export class FileWalk {
  readonly #files: VaultFiles
  readonly #levels: WalkLevel[]
  readonly #skipped: number | undefined

  /** @param skipped directory that the walk does not enter */
  constructor(files: VaultFiles, start: FoundFile, skipped?: number) {
    this.#files = files
    this.#skipped = skipped
    this.#levels = [createLevel(start.path, start.number)]
  }

  /** Returns the next file that `isWanted` accepts; undefined at the end. */
  next(isWanted: (number: number) => boolean): FoundFile | undefined {
    for (let level = this.#levels.at(-1); level; level = this.#levels.at(-1)) {
      const entry = level.entries[level.next]
      if (entry === undefined) {
        if (!this.#loadMore(level)) this.#levels.pop()
        continue
      }
      level.next++
      const { name, inode, type } = entry
      if (type === 'directory' && inode !== this.#skipped) {
        this.#levels.push(createLevel(child(level.path, name), inode))
      }
      if (type === 'file' && isWanted(inode)) return { path: child(level.path, name), number: inode }
    }
    return undefined
  }

  /** Reads the next entries of a directory; false at its end. */
  #loadMore(level: WalkLevel): boolean {
    const last = level.entries.at(-1)?.name
    const entries = this.#files.listEntriesAfter(level.directory, last, ENTRIES_PER_READ)
    level.entries = entries
    level.next = 0
    return entries.length > 0
  }
}

function createLevel(path: string, directory: number): WalkLevel {
  return { path, directory, entries: [], next: 0 }
}
