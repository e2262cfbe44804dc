import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { isErrno } from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { DIRECTORY_NUMBERS, ENTRY_NUMBERS, type IndexedDirectory, StatIndex } from './stat-index.ts'

/** Above this, a hook would take seconds. */
const MAX_ENTRIES = 300_000
/** Change times advance in steps. A file that changed this shortly before a scan may change again without a trace. */
const CLOCK_STEP_MS = 20
const MAYBE_MISSING = { throwIfNoEntry: false } as const

/** Decides which entries of a directory are not recorded. */
export interface ScanRules {
  isExcluded(path: string, isDirectory: boolean): boolean
}

interface DirectoryScanOptions {
  /** Lets the scan change the working directory of this process for good. Short paths save a fifth of the time. */
  readonly canChangeDirectory?: boolean
}

/** Result of a scan. Paths begin with a slash, and parents come first. */
export interface DirectoryScan {
  readonly index: StatIndex
  /** Paths at which the directory may differ from the last scan. */
  readonly touched: readonly string[]
  /** Paths that are recorded from now on because the rules changed. Nobody changed them. */
  readonly adopted: readonly string[]
}

/**
 * Compares a directory with its index by stats alone. A directory with the same change time has the same names, so it
 * is not listed again. Throws EINVAL if it has too many entries.
 */
export function scanDirectory(
  root: string,
  previous: StatIndex,
  rules: ScanRules,
  { canChangeDirectory = false }: DirectoryScanOptions = {},
): DirectoryScan {
  return new Scan(root, previous, rules, canChangeDirectory).run()
}

class Scan {
  readonly #root: string
  readonly #previous: StatIndex
  readonly #rules: ScanRules
  readonly #canChangeDirectory: boolean
  readonly #index: StatIndex
  readonly #touched: string[] = []
  readonly #adopted: string[] = []
  /** An entry that changed later than this may have changed again since the last scan, within one step of the clock. */
  readonly #uncertainAfter: number
  #entries = 0

  constructor(root: string, previous: StatIndex, rules: ScanRules, canChangeDirectory: boolean) {
    this.#root = root
    this.#previous = previous
    this.#rules = rules
    this.#canChangeDirectory = canChangeDirectory
    this.#index = new StatIndex(Date.now(), previous.settings)
    this.#uncertainAfter = previous.takenAt - CLOCK_STEP_MS
  }

  run(): DirectoryScan {
    this.#visit('')
    return { index: this.#index, touched: this.#touched, adopted: this.#adopted }
  }

  /**
   * Scans a directory and everything below it. One that this user may not read counts as unchanged, and one that is
   * removed meanwhile as gone.
   */
  #visit(path: string): void {
    try {
      this.#visitReadable(path)
    } catch (error) {
      if (path !== '' && isErrno(error, 'ENOENT', 'ENOTDIR'))
        this.#touched.push(...this.#previous.listBelow(path))
      else if (path !== '' && isErrno(error, 'EACCES', 'EPERM')) this.#copyPrevious(path)
      else throw error
    }
  }

  /** Copies what the previous index has of a directory and everything below it. */
  #copyPrevious(path: string): void {
    const known = this.#previous.directories.get(path)
    if (known === undefined) return
    this.#index.directories.set(path, known)
    for (const name of known.directories) this.#copyPrevious(`${path}/${name}`)
  }

  #visitReadable(path: string): void {
    const stats = lstatSync(this.#root + path, MAYBE_MISSING)
    const known = this.#previous.directories.get(path)
    if (stats?.isDirectory() !== true) {
      this.#touched.push(...this.#previous.listBelow(path))
      return
    }
    const { ctimeMs, ino } = stats
    const isSame = known?.stats[0] === ctimeMs && known.stats[1] === ino && ctimeMs < this.#uncertainAfter
    const current =
      known !== undefined && isSame ? this.#compare(path, known) : this.#list(path, stats, known)
    if (current === undefined) return
    this.#index.directories.set(path, current)
    this.#entries += current.names.length + 1
    if (this.#entries > MAX_ENTRIES) throw createTooLargeError(this.#root)
    for (const name of current.directories) this.#visit(`${path}/${name}`)
  }

  /** Compares the entries of a directory that has the same names as before. */
  #compare(path: string, known: IndexedDirectory): IndexedDirectory {
    const { names, stats } = known
    const prefix = this.#enter(path)
    let changed: Float64Array | undefined
    for (let index = 0; index < names.length; index++) {
      const offset = DIRECTORY_NUMBERS + ENTRY_NUMBERS * index
      const found = lstatSync(prefix + names[index], MAYBE_MISSING)
      if (
        found !== undefined &&
        found.ctimeMs === stats[offset] &&
        found.size === stats[offset + 1] &&
        found.ino === stats[offset + 2] &&
        found.ctimeMs < this.#uncertainAfter
      )
        continue
      this.#touched.push(`${path}/${names[index]}`)
      changed ??= stats.slice()
      setEntry(changed, offset, found)
    }
    return changed === undefined ? known : { ...known, stats: changed }
  }

  /** Returns the text to put before a name in a directory: nothing once it has changed into the directory. */
  #enter(path: string): string {
    if (!this.#canChangeDirectory) return `${this.#root}${path}/`
    process.chdir(this.#root + path)
    return ''
  }

  /** Lists a directory that is new or changed; undefined if it is gone. */
  #list(path: string, found: Stats, known: IndexedDirectory | undefined): IndexedDirectory | undefined {
    const listed = this.#readNames(path)
    if (listed === undefined) {
      this.#touched.push(...this.#previous.listBelow(path))
      return undefined
    }
    if (path !== '') this.#touched.push(path)
    const { names, directories, excluded } = listed
    const excludedBefore = new Set(known?.excluded)
    for (const name of [...names, ...directories])
      if (excludedBefore.has(name)) this.#adopted.push(`${path}/${name}`)
    const stats = new Float64Array(DIRECTORY_NUMBERS + ENTRY_NUMBERS * names.length)
    stats[0] = found.ctimeMs
    stats[1] = found.ino
    const oldIndexes = new Map(known?.names.map((name, index) => [name, index]))
    for (const [index, name] of names.entries()) {
      const offset = DIRECTORY_NUMBERS + ENTRY_NUMBERS * index
      setEntry(stats, offset, lstatSync(`${this.#root}${path}/${name}`, MAYBE_MISSING))
      const oldIndex = oldIndexes.get(name)
      oldIndexes.delete(name)
      if (!this.#isSameEntry(stats, offset, known, oldIndex)) this.#touched.push(`${path}/${name}`)
    }
    for (const name of oldIndexes.keys()) this.#touched.push(`${path}/${name}`)
    const present = new Set(directories)
    for (const name of known?.directories ?? [])
      if (!present.has(name)) this.#touched.push(...this.#previous.listBelow(`${path}/${name}`))
    return { names, directories, excluded, stats }
  }

  #isSameEntry(
    stats: Float64Array,
    offset: number,
    known: IndexedDirectory | undefined,
    oldIndex: number | undefined,
  ): boolean {
    if (known === undefined || oldIndex === undefined) return false
    const oldOffset = DIRECTORY_NUMBERS + ENTRY_NUMBERS * oldIndex
    for (let number = 0; number < ENTRY_NUMBERS; number++)
      if (stats[offset + number] !== known.stats[oldOffset + number]) return false
    return (stats[offset] ?? 0) < this.#uncertainAfter
  }

  #readNames(path: string): Omit<IndexedDirectory, 'stats'> | undefined {
    const names: string[] = []
    const directories: string[] = []
    const excluded: string[] = []
    try {
      for (const entry of readdirSync(this.#root + path, { withFileTypes: true })) {
        const isDirectory = entry.isDirectory()
        if (!isDirectory && !entry.isFile() && !entry.isSymbolicLink()) continue
        if (this.#rules.isExcluded(`${path}/${entry.name}`, isDirectory)) excluded.push(entry.name)
        else if (isDirectory) directories.push(entry.name)
        else names.push(entry.name)
      }
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined
      throw error
    }
    return { names, directories, excluded }
  }
}

function setEntry(stats: Float64Array, offset: number, found: Stats | undefined): void {
  stats[offset] = found?.ctimeMs ?? 0
  stats[offset + 1] = found?.size ?? 0
  stats[offset + 2] = found?.ino ?? 0
}

function createTooLargeError(root: string): VfsError {
  const detail = `${root} has more than ${MAX_ENTRIES.toLocaleString('en')} files; name directories to leave out in [undo] exclude of config.toml`
  return new VfsError('EINVAL', root, { op: 'record', detail })
}
