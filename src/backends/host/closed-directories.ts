import { lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { HostFsFault } from './host-errors.ts'

/** Limit of the entries of closed directories that are searched for hard links, the least deep first. */
const MAX_SEARCHED_ENTRIES = 5_000
/** Time in milliseconds for which that search is cached, because a tree may have thousands of hard links. */
const SEARCH_VALID_MS = 1_000
/**
 * Time in milliseconds for which the closed directories are cached. A lookup each time would double the cost of an
 * operation.
 */
const LOOKUP_VALID_MS = 100

/** Directories that the file system hides and protects, and the reason for error messages. */
export interface ClosedOptions {
  readonly directories: readonly string[]
  readonly reason: string
}

/** A closed directory that does not exist yet: the nearest existing directory above it, and the next name. */
interface MissingDirectory {
  readonly above: string
  readonly name: string
}

/**
 * Directories that stay closed whatever path, link or mount leads to them, identified by device and inode. Other hard
 * links of their files are closed too, and a missing closed directory cannot be created.
 */
export class ClosedDirectories {
  readonly #paths: readonly string[]
  readonly #reason: string
  #closed = new Set<string>()
  #devices = new Set<number>()
  #missing: MissingDirectory[] = []
  #expiresAt = 0
  #linkedFiles = new Set<string>()
  #linkedFilesExpireAt = 0

  constructor({ directories, reason }: ClosedOptions) {
    this.#paths = directories.map((path) => resolve(path))
    this.#reason = reason
  }

  /** Refreshes the closed directories if the cache has expired. Called by each operation. */
  refresh(): void {
    const now = performance.now()
    if (now < this.#expiresAt) return
    this.#expiresAt = now + LOOKUP_VALID_MS
    this.#closed = new Set()
    this.#devices = new Set()
    this.#missing = []
    for (const path of this.#paths) {
      const entry = statIfPresent(path)
      if (entry === undefined) this.#addMissing(path)
      else this.#closed.add(toFileId(entry))
      if (entry !== undefined) this.#devices.add(entry.dev)
    }
  }

  /** Reports whether an entry is a closed directory or a hard link of a file in one. */
  isClosed(entry: Stats): boolean {
    if (entry.isDirectory()) return this.#closed.has(toFileId(entry))
    return entry.nlink > 1 && this.#devices.has(entry.dev) && this.#findLinkedFiles().has(toFileId(entry))
  }

  /** Throws EACCES if the entry is closed. */
  assertOpen(entry: Stats): void {
    if (this.isClosed(entry)) throw this.#createClosedFault()
  }

  /** Throws EACCES for a directory that is closed or inside a closed one. */
  assertOutside(directory: string): void {
    for (const path of listPathAndAncestors(directory)) this.assertOpen(statSync(path))
  }

  /** Throws EACCES for a directory that contains a closed one, which would be moved or removed with it. */
  assertMovable(entry: Stats): void {
    if (!entry.isDirectory()) return
    const id = toFileId(entry)
    const isAbove = this.#paths.some((path) =>
      listPathAndAncestors(realPathIfPresent(path) ?? path).some((above) => {
        const found = statIfPresent(above)
        return found !== undefined && toFileId(found) === id
      }),
    )
    if (isAbove) throw this.#createClosedFault()
  }

  /** Throws EACCES for a name that leads to a missing closed directory, ignoring case. */
  assertMakeable(parent: () => Stats, name: string): void {
    const sought = this.#missing.filter((missing) => missing.name === foldCase(name))
    if (sought.length === 0) return
    const above = toFileId(parent())
    if (sought.some((missing) => missing.above === above)) throw this.#createClosedFault()
  }

  #addMissing(path: string): void {
    for (const candidate of listPathAndAncestors(path)) {
      const above = statIfPresent(dirname(candidate))
      if (above === undefined) continue
      this.#missing.push({ above: toFileId(above), name: foldCase(basename(candidate)) })
      return
    }
  }

  /** Returns the files of closed directories that have several names. */
  #findLinkedFiles(): ReadonlySet<string> {
    const now = performance.now()
    if (now < this.#linkedFilesExpireAt) return this.#linkedFiles
    this.#linkedFiles = new Set(listLinkedFiles(this.#paths))
    this.#linkedFilesExpireAt = now + SEARCH_VALID_MS
    return this.#linkedFiles
  }

  #createClosedFault(): HostFsFault {
    return new HostFsFault('EACCES', this.#reason)
  }
}

function* listLinkedFiles(directories: readonly string[]): Generator<string> {
  const pending = [...directories]
  let searched = 0
  for (let directory = pending.shift(); directory !== undefined; directory = pending.shift()) {
    for (const name of listNames(directory)) {
      if (++searched > MAX_SEARCHED_ENTRIES) return
      const path = join(directory, name)
      const entry = lstatSync(path, { throwIfNoEntry: false })
      if (entry?.isDirectory()) pending.push(path)
      else if (entry !== undefined && entry.nlink > 1) yield toFileId(entry)
    }
  }
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    // Removed, or not readable by this user.
    return []
  }
}

function toFileId({ dev, ino }: Stats): string {
  return `${dev}:${ino}`
}

function statIfPresent(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    // A parent is no directory, or this user may not enter it.
    return undefined
  }
}

function realPathIfPresent(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

/** Returns a path and its ancestors, the deepest first. */
function listPathAndAncestors(path: string): string[] {
  const above = dirname(path)
  return above === path ? [path] : [path, ...listPathAndAncestors(above)]
}

function foldCase(name: string): string {
  return name.normalize('NFKC').toLowerCase()
}
