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
  /** Changes the working directory of this process while it scans. Short paths save a fifth of the time. */
  readonly canChangeDirectory?: boolean
}

/** State of a directory, and the paths at which it may differ from the last one, parents first. */
export interface DirectoryScan {
  readonly index: StatIndex
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
  /** Entries that changed later may have changed again. */
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

  /** A closed directory cannot be recorded; it counts as it was until it is opened. */
  #visit(path: string): void {
    try {
      this.#visitOpen(path)
    } catch (error) {
      if (path === '' || !isErrno(error, 'EACCES', 'EPERM')) throw error
      this.#keep(path)
    }
  }

  #keep(path: string): void {
    const known = this.#previous.directories.get(path)
    if (known === undefined) return
    this.#index.directories.set(path, known)
    for (const name of known.directories) this.#keep(`${path}/${name}`)
  }

  #visitOpen(path: string): void {
    const stats = lstatSync(this.#root + path, MAYBE_MISSING)
    const known = this.#previous.directories.get(path)
    if (stats?.isDirectory() !== true) {
      this.#touched.push(...this.#previous.listBelow(path))
      return
    }
    const { ctimeMs, ino } = stats
    const isSame = known?.stats[0] === ctimeMs && known.stats[1] === ino && ctimeMs < this.#uncertainAfter
    const current = known !== undefined && isSame ? this.#check(path, known) : this.#list(path, stats, known)
    if (current === undefined) return
    this.#index.directories.set(path, current)
    this.#entries += current.names.length + 1
    if (this.#entries > MAX_ENTRIES) throw createTooLargeError(this.#root)
    for (const name of current.directories) this.#visit(`${path}/${name}`)
  }

  /** Compares the entries of a directory that has the same names as before. */
  #check(path: string, known: IndexedDirectory): IndexedDirectory {
    const { names, stats } = known
    const prefix = this.#enter(path)
    let changed: Float64Array | undefined
    for (let index = 0; index < names.length; index++) {
      const at = DIRECTORY_NUMBERS + ENTRY_NUMBERS * index
      const found = lstatSync(prefix + names[index], MAYBE_MISSING)
      if (
        found !== undefined &&
        found.ctimeMs === stats[at] &&
        found.size === stats[at + 1] &&
        found.ino === stats[at + 2] &&
        found.ctimeMs < this.#uncertainAfter
      )
        continue
      this.#touched.push(`${path}/${names[index]}`)
      changed ??= stats.slice()
      setEntry(changed, at, found)
    }
    return changed === undefined ? known : { ...known, stats: changed }
  }

  /** Returns the text before a name in a directory. */
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
    const unseen = new Set(known?.excluded)
    for (const name of [...names, ...directories]) if (unseen.has(name)) this.#adopted.push(`${path}/${name}`)
    const stats = new Float64Array(DIRECTORY_NUMBERS + ENTRY_NUMBERS * names.length)
    stats[0] = found.ctimeMs
    stats[1] = found.ino
    const before = new Map(known?.names.map((name, index) => [name, index]))
    for (const [index, name] of names.entries()) {
      const at = DIRECTORY_NUMBERS + ENTRY_NUMBERS * index
      setEntry(stats, at, lstatSync(`${this.#root}${path}/${name}`, MAYBE_MISSING))
      const old = before.get(name)
      before.delete(name)
      if (!this.#isSameEntry(stats, at, known, old)) this.#touched.push(`${path}/${name}`)
    }
    for (const name of before.keys()) this.#touched.push(`${path}/${name}`)
    const kept = new Set(directories)
    for (const name of known?.directories ?? [])
      if (!kept.has(name)) this.#touched.push(...this.#previous.listBelow(`${path}/${name}`))
    return { names, directories, excluded, stats }
  }

  #isSameEntry(
    stats: Float64Array,
    at: number,
    known: IndexedDirectory | undefined,
    index: number | undefined,
  ): boolean {
    if (known === undefined || index === undefined) return false
    const old = DIRECTORY_NUMBERS + ENTRY_NUMBERS * index
    for (let number = 0; number < ENTRY_NUMBERS; number++)
      if (stats[at + number] !== known.stats[old + number]) return false
    return (stats[at] ?? 0) < this.#uncertainAfter
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

function setEntry(stats: Float64Array, at: number, found: Stats | undefined): void {
  stats[at] = found?.ctimeMs ?? 0
  stats[at + 1] = found?.size ?? 0
  stats[at + 2] = found?.ino ?? 0
}

function createTooLargeError(root: string): VfsError {
  const detail = `${root} has more than ${MAX_ENTRIES.toLocaleString('en')} files; name directories to leave out in [undo] exclude of config.toml`
  return new VfsError('EINVAL', root, { op: 'record', detail })
}
