import { child } from '../../vfs/index.ts'
import type { Files, NamedEntry } from '../files/files.ts'

/** How many names are looked at in one step: a directory may have millions. */
const ENTRIES_AT_ONCE = 256

interface Level {
  readonly path: string
  readonly directory: number
  entries: readonly NamedEntry[]
  at: number
}

/** A file by one of its names. */
export interface FoundFile {
  readonly path: string
  readonly number: number
}

/** The regular files below a directory, depth first, names in order. A step that meets a fault can be done again. */
export class FileWalk {
  readonly #files: Files
  readonly #levels: Level[]
  readonly #skipped: number | undefined

  /** @param skipped a directory that is not entered */
  constructor(files: Files, start: FoundFile, skipped?: number) {
    this.#files = files
    this.#skipped = skipped
    this.#levels = [levelOf(start.path, start.number)]
  }

  /** The next file whose number is wanted; undefined at the end. */
  next(isWanted: (number: number) => boolean): FoundFile | undefined {
    for (let level = this.#levels.at(-1); level; level = this.#levels.at(-1)) {
      const entry = level.entries[level.at]
      if (entry === undefined) {
        if (!this.#loadMore(level)) this.#levels.pop()
        continue
      }
      level.at++
      const { name, inode, type } = entry
      if (type === 'directory' && inode !== this.#skipped) {
        this.#levels.push(levelOf(child(level.path, name), inode))
      }
      if (type === 'file' && isWanted(inode)) return { path: child(level.path, name), number: inode }
    }
    return undefined
  }

  #loadMore(level: Level): boolean {
    const last = level.entries.at(-1)?.name
    const entries = this.#files.namesAfter(level.directory, last, ENTRIES_AT_ONCE)
    level.entries = entries
    level.at = 0
    return entries.length > 0
  }
}

function levelOf(path: string, directory: number): Level {
  return { path, directory, entries: [], at: 0 }
}
