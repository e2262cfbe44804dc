import type { Stat } from '../../vfs/index.ts'
import { DIRECTORY_STAT } from './list-key-pages.ts'

const SLASH = 47
const AFTER_SURROGATES = 0xe000
const MAX_HELD = 1000

export interface S3Entry {
  readonly name: string
  readonly stat: Stat
}

/**
 * Puts the entries of a directory from the order of keys into that of names. Keys are sorted by bytes and with the
 * slash of a directory: `a-b`, then `a/`. Held back is only what shares the beginning that makes the two differ;
 * once that is a lot, the server is asked whether the directory exists for which it is held.
 */
export class NameSorter {
  readonly #isDirectory: (name: string) => Promise<boolean>
  readonly #limit: number
  /** Directories that were given before their turn. */
  readonly #givenEarly = new Set<string>()
  /** Stems whose directory was given early, or is not to be given at all. */
  readonly #decidedStems = new Set<string>()
  #held: S3Entry[] = []
  /** What everything that is held begins with; undefined when nothing is. */
  #stem: string | undefined
  /** A stem whose directory is known of: names with it are in doubt only further on. */
  #resolvedStem = ''
  #last = ''
  /** The name that came before the first that is held. */
  #before = ''

  constructor(isDirectory: (name: string) => Promise<boolean>, limit: number = MAX_HELD) {
    this.#isDirectory = isDirectory
    this.#limit = limit
  }

  /** What can be given now that this entry has come. */
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

  /** What is still held when no entry comes any more. */
  flush(): readonly S3Entry[] {
    const held = this.#held.sort((one, other) => (one.name < other.name ? -1 : 1))
    this.#held = []
    this.#stem = undefined
    return held
  }

  async #resolveStem(stem: string): Promise<readonly S3Entry[]> {
    // Where bytes and code units differ, only the end of the stem tells.
    if (this.#held.some(({ name }) => findDisputedStem(name, stem.length) === stem)) return []
    // A file of that name has come already, and hides the directory; or it was decided before.
    const isDecided = this.#before === stem || this.#decidedStems.has(stem)
    const isThere = !isDecided && (await this.#isDirectory(stem))
    this.#decidedStems.add(stem)
    const held = this.#held
    this.#held = []
    this.#stem = undefined
    this.#resolvedStem = stem
    this.#last = this.#before
    const released: S3Entry[] = isThere ? [{ name: stem, stat: DIRECTORY_STAT }] : []
    if (isThere) this.#givenEarly.add(stem)
    for (const entry of held) released.push(...(await this.push(entry)))
    return released
  }
}

/** The beginning of a name with which a smaller name can still follow in the order of keys. */
function findDisputedStem(name: string, settled: number): string | undefined {
  for (let at = 0; at < name.length; at++) {
    const unit = name.charCodeAt(at)
    if ((unit < SLASH && at > settled) || unit >= AFTER_SURROGATES) return name.slice(0, at)
  }
  return undefined
}
