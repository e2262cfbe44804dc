import type { Stat } from '../../vfs/index.ts'
import { DIRECTORY } from './pages.ts'

const SLASH = 47
const AFTER_SURROGATES = 0xe000
const HELD_AT_MOST = 1000

export interface Listed {
  readonly name: string
  readonly stat: Stat
}

/**
 * Puts the entries of a directory from the order of keys into that of names. Keys are sorted by bytes and with the
 * slash of a directory: `a-b`, then `a/`. Held back is only what shares the beginning that makes the two differ;
 * once that is a lot, the server is asked whether the directory exists for which it is held.
 */
export class NameOrder {
  readonly #isDirectory: (name: string) => Promise<boolean>
  readonly #limit: number
  /** Directories that were given before their turn. */
  readonly #early = new Set<string>()
  /** Stems whose directory was given early, or is not to be given at all. */
  readonly #decided = new Set<string>()
  #held: Listed[] = []
  /** What everything that is held begins with; undefined when nothing is. */
  #stem: string | undefined
  /** A stem whose directory is known of: names with it are in doubt only further on. */
  #settled = ''
  #last = ''
  /** The name that came before the first that is held. */
  #before = ''

  constructor(isDirectory: (name: string) => Promise<boolean>, limit: number = HELD_AT_MOST) {
    this.#isDirectory = isDirectory
    this.#limit = limit
  }

  /** What can be given now that this entry has come. */
  async after(entry: Listed): Promise<readonly Listed[]> {
    const { name, stat } = entry
    if (stat.type === 'directory' && this.#early.has(name)) return []
    const released = this.#stem !== undefined && name.startsWith(this.#stem) ? [] : this.rest()
    if (this.#stem === undefined) {
      this.#before = this.#last
      this.#stem = disputedStem(name, name.startsWith(this.#settled) ? this.#settled.length : 0)
    }
    this.#last = name
    if (this.#stem === undefined) return [...released, entry]
    this.#held.push(entry)
    return this.#held.length % this.#limit === 0
      ? [...released, ...(await this.#settle(this.#stem))]
      : released
  }

  /** What is still held when no entry comes any more. */
  rest(): readonly Listed[] {
    const held = this.#held.sort((one, other) => (one.name < other.name ? -1 : 1))
    this.#held = []
    this.#stem = undefined
    return held
  }

  async #settle(stem: string): Promise<readonly Listed[]> {
    // Where bytes and code units differ, only the end of the stem tells.
    if (this.#held.some(({ name }) => disputedStem(name, stem.length) === stem)) return []
    // A file of that name has come already, and hides the directory; or it was decided before.
    const isDecided = this.#before === stem || this.#decided.has(stem)
    const isThere = !isDecided && (await this.#isDirectory(stem))
    this.#decided.add(stem)
    const held = this.#held
    this.#held = []
    this.#stem = undefined
    this.#settled = stem
    this.#last = this.#before
    const released: Listed[] = isThere ? [{ name: stem, stat: DIRECTORY }] : []
    if (isThere) this.#early.add(stem)
    for (const entry of held) released.push(...(await this.after(entry)))
    return released
  }
}

/** The beginning of a name with which a smaller name can still follow in the order of keys. */
function disputedStem(name: string, settled: number): string | undefined {
  for (let at = 0; at < name.length; at++) {
    const unit = name.charCodeAt(at)
    if ((unit < SLASH && at > settled) || unit >= AFTER_SURROGATES) return name.slice(0, at)
  }
  return undefined
}
