import type { Stat } from '../../vfs/index.ts'
import { DIRECTORY_STAT } from './list-key-pages.ts'

const SLASH = 47
const AFTER_SURROGATES = 0xe000
/** Number of held entries at which the server is asked. */
const MAX_HELD = 1000

export interface S3Entry {
  readonly name: string
  readonly stat: Stat
}

/**
 * Sorts the entries of a directory from key order into name order. Keys are sorted by bytes and include the slash of a
 * directory: `a-b`, then `a/`. Only entries with a common stem whose order is undecided are held back. When many are
 * held, the server is asked whether the directory of that stem exists.
 */
export class NameSorter {
  readonly #isDirectory: (name: string) => Promise<boolean>
  readonly #limit: number
  /** Directories that were yielded early. */
  readonly #givenEarly = new Set<string>()
  /** Stems whose directory was yielded early or does not exist. */
  readonly #decidedStems = new Set<string>()
  #held: S3Entry[] = []
  /** The common stem of the held entries; undefined if none are held. */
  #stem: string | undefined
  /** A stem whose directory is decided: names with it are undecided only after it. */
  #resolvedStem = ''
  #last = ''
  /** The name before the first held entry. */
  #before = ''

  constructor(isDirectory: (name: string) => Promise<boolean>, limit: number = MAX_HELD) {
    this.#isDirectory = isDirectory
    this.#limit = limit
  }

  /** Adds an entry and returns the entries whose order is now decided. */
  async push(entry: S3Entry): Promise<readonly S3Entry[]> {
    const { name, stat } = entry
    if (stat.type === 'directory' && this.#givenEarly.has(name)) return []
    const released = this.#stem !== undefined && name.startsWith(this.#stem) ? [] : this.flush()
    if (this.#stem === undefined) {
      this.#before = this.#last
      this.#stem = findDisputedStem(name, name.startsWith(this.#resolvedStem) ? this.#resolvedStem.length : 0)
    }
    this.#last = name
    if (this.#stem === undefined) return [...released, entry]
    this.#held.push(entry)
    return this.#held.length % this.#limit === 0
      ? [...released, ...(await this.#resolveStem(this.#stem))]
      : released
  }

  /** Returns the remaining entries at the end. */
  flush(): readonly S3Entry[] {
    const held = this.#held.sort((one, other) => (one.name < other.name ? -1 : 1))
    this.#held = []
    this.#stem = undefined
    return held
  }

  async #resolveStem(stem: string): Promise<readonly S3Entry[]> {
    // If byte order and code unit order differ, only the end of the stem decides.
    if (this.#held.some(({ name }) => findDisputedStem(name, stem.length) === stem)) return []
    // A file of that name has been seen and hides the directory, or it was decided before.
    const isDecided = this.#before === stem || this.#decidedStems.has(stem)
    const exists = !isDecided && (await this.#isDirectory(stem))
    this.#decidedStems.add(stem)
    const held = this.#held
    this.#held = []
    this.#stem = undefined
    this.#resolvedStem = stem
    this.#last = this.#before
    const released: S3Entry[] = exists ? [{ name: stem, stat: DIRECTORY_STAT }] : []
    if (exists) this.#givenEarly.add(stem)
    for (const entry of held) released.push(...(await this.push(entry)))
    return released
  }
}

/** Returns the stem of a name with which a smaller name can still follow in key order. */
function findDisputedStem(name: string, settled: number): string | undefined {
  for (let index = 0; index < name.length; index++) {
    const unit = name.charCodeAt(index)
    if ((unit < SLASH && index > settled) || unit >= AFTER_SURROGATES) return name.slice(0, index)
  }
  return undefined
}
