import type { VaultFiles } from '../../files/vault-files.ts'
import { findNamedInode, type MergeSides } from './merge-sides.ts'

/**
 * Matches the files of one tree to those of another. A moved file stays itself. A file that an editor removed and
 * created again at the same path also counts as the same.
 */
class InodeMatcher {
  readonly #from: VaultFiles
  readonly #to: VaultFiles
  readonly #apartFrom: number
  readonly #matches = new Map<number, number | undefined>()
  readonly #inverse: InodeMatcher

  /** @param apartFrom from this number on, equal inode numbers are different files. */
  constructor(from: VaultFiles, to: VaultFiles, apartFrom: number, inverse?: InodeMatcher) {
    this.#from = from
    this.#to = to
    this.#apartFrom = apartFrom
    this.#inverse = inverse ?? new InodeMatcher(to, from, apartFrom, this)
  }

  /** The matcher of the opposite direction. */
  get inverse(): InodeMatcher {
    return this.#inverse
  }

  findMatch(number: number): number | undefined {
    const unknown: number[] = []
    for (
      let at = number;
      !this.#matches.has(at) && !this.#matchDirectly(at);
      at = this.#from.getInode(at).parent
    )
      unknown.push(at)
    for (const at of unknown.toReversed()) this.#matches.set(at, this.#matchByName(at))
    return this.#matches.get(number)
  }

  /** Matches an inode if no directory lookup is needed. */
  #matchDirectly(number: number): boolean {
    const isGone = findNamedInode(this.#from, number) === undefined
    if (!isGone && !isSameInode(this.#from, this.#to, number, this.#apartFrom)) return false
    this.#matches.set(number, isGone ? undefined : number)
    return true
  }

  #matchByName(number: number): number | undefined {
    const { parent, name, type } = this.#from.getInode(number)
    const directory = this.#matches.get(parent)
    const entry = directory === undefined ? undefined : this.#to.findEntry(directory, name)
    if (entry === undefined || entry.type !== type) return undefined
    // That inode already matches another file.
    if (isSameInode(this.#to, this.#from, entry.inode, this.#apartFrom)) return undefined
    return type === 'directory' || this.#isMutualMatch(entry.inode, number) ? entry.inode : undefined
  }

  /** Reports whether two files match each other by their first names: otherwise one could have two counterparts. */
  #isMutualMatch(found: number, number: number): boolean {
    const { parent, name } = this.#to.getInode(found)
    const directory = this.#inverse.findMatch(parent)
    return directory !== undefined && this.#from.findEntry(directory, name)?.inode === number
  }
}

function isSameInode(one: VaultFiles, other: VaultFiles, number: number, apartFrom: number): boolean {
  return number < apartFrom && findNamedInode(one, number)?.type === findNamedInode(other, number)?.type
}

/** Matchers between the base and both sides, in each direction. */
export interface InodeMatchers {
  readonly baseToOurs: InodeMatcher
  readonly baseToTheirs: InodeMatcher
  readonly oursToBase: InodeMatcher
  readonly theirsToBase: InodeMatcher
}

export function createInodeMatchers({ base, ours, theirs, apart }: MergeSides): InodeMatchers {
  const oursOf = new InodeMatcher(base, ours, apart.ours)
  const theirsOf = new InodeMatcher(base, theirs, apart.theirs)
  return {
    baseToOurs: oursOf,
    baseToTheirs: theirsOf,
    oursToBase: oursOf.inverse,
    theirsToBase: theirsOf.inverse,
  }
}
