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

  /** From `apartFrom` on, the same number is another file. */
  constructor(from: Files, to: Files, apartFrom: number) {
    this.#from = from
    this.#to = to
    this.#apartFrom = apartFrom
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
    return isSame(this.#to, this.#from, entry.inode, this.#apartFrom) ? undefined : entry.inode
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
  return {
    oursOf: new Counterparts(base, ours, apart.ours),
    theirsOf: new Counterparts(base, theirs, apart.theirs),
    baseOfOurs: new Counterparts(ours, base, apart.ours),
    baseOfTheirs: new Counterparts(theirs, base, apart.theirs),
  }
}
