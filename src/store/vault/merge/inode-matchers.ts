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

  /** Returns the inode of the other tree that is the same file, or undefined. */
  findMatch(number: number): number | undefined {
    const unmatched: number[] = []
    for (
      let next = number;
      !this.#matches.has(next) && !this.#matchDirectly(next);
      next = this.#from.getInode(next).parent
    )
      unmatched.push(next)
    for (const inode of unmatched.toReversed()) this.#matches.set(inode, this.#matchByName(inode))
    return this.#matches.get(number)
  }

  /** Matches an inode by its number, or not at all; false if only its name can decide. */
  #matchDirectly(number: number): boolean {
    const isMissing = findNamedInode(this.#from, number) === undefined
    if (!isMissing && !isSameInode(this.#from, this.#to, number, this.#apartFrom)) return false
    this.#matches.set(number, isMissing ? undefined : number)
    return true
  }

  /** Matches an inode by its name in the matching directory. */
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
  const baseToOurs = new InodeMatcher(base, ours, apart.ours)
  const baseToTheirs = new InodeMatcher(base, theirs, apart.theirs)
  return {
    baseToOurs,
    baseToTheirs,
    oursToBase: baseToOurs.inverse,
    theirsToBase: baseToTheirs.inverse,
  }
}
