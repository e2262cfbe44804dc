import type { Files } from '../../files/files.ts'
import { type MergeSides, named } from './sides.ts'

/**
 * Which file of one tree is which of another. A file is itself wherever it was moved; one that was removed and made
 * again at the same place, as editors do, is the same file, too.
 */
class Counterparts {
  readonly #from: Files
  readonly #to: Files
  readonly #apartFrom: number
  readonly #known = new Map<number, number | undefined>()
  readonly #inverse: Counterparts

  /** From `apartFrom` on, the same number is another file. */
  constructor(from: Files, to: Files, apartFrom: number, inverse?: Counterparts) {
    this.#from = from
    this.#to = to
    this.#apartFrom = apartFrom
    this.#inverse = inverse ?? new Counterparts(to, from, apartFrom, this)
  }

  /** The other way round. */
  get inverse(): Counterparts {
    return this.#inverse
  }

  of(number: number): number | undefined {
    const unknown: number[] = []
    for (let at = number; !this.#known.has(at) && !this.#settle(at); at = this.#from.inode(at).parent)
      unknown.push(at)
    for (const at of unknown.toReversed()) this.#known.set(at, this.#inSamePlace(at))
    return this.#known.get(number)
  }

  /** Notes what can be told without looking at the directory. */
  #settle(number: number): boolean {
    const isGone = named(this.#from, number) === undefined
    if (!isGone && !isSame(this.#from, this.#to, number, this.#apartFrom)) return false
    this.#known.set(number, isGone ? undefined : number)
    return true
  }

  #inSamePlace(number: number): number | undefined {
    const { parent, name, type } = this.#from.inode(number)
    const directory = this.#known.get(parent)
    const entry = directory === undefined ? undefined : this.#to.entry(directory, name)
    if (entry === undefined || entry.type !== type) return undefined
    // It is known as another file.
    if (isSame(this.#to, this.#from, entry.inode, this.#apartFrom)) return undefined
    return type === 'directory' || this.#leadsBack(entry.inode, number) ? entry.inode : undefined
  }

  /** Each is found by the first of its names: two files must find each other, or one could have two counterparts. */
  #leadsBack(found: number, number: number): boolean {
    const { parent, name } = this.#to.inode(found)
    const directory = this.#inverse.of(parent)
    return directory !== undefined && this.#from.entry(directory, name)?.inode === number
  }
}

function isSame(one: Files, other: Files, number: number, apartFrom: number): boolean {
  return number < apartFrom && named(one, number)?.type === named(other, number)?.type
}

/** Both sides beside the base, in each direction. */
export interface Kinship {
  readonly oursOf: Counterparts
  readonly theirsOf: Counterparts
  readonly baseOfOurs: Counterparts
  readonly baseOfTheirs: Counterparts
}

export function kinshipOf({ base, ours, theirs, apart }: MergeSides): Kinship {
  const oursOf = new Counterparts(base, ours, apart.ours)
  const theirsOf = new Counterparts(base, theirs, apart.theirs)
  return { oursOf, theirsOf, baseOfOurs: oursOf.inverse, baseOfTheirs: theirsOf.inverse }
}
