import { ApplyError } from './apply-conflicts.ts'
import type { TreeChange } from './compare-trees.ts'
import type { DirectoryTree } from './directory-tree.ts'
import type { LinkEntry } from './link-entry.ts'
import { getParent, listAncestors, splitPath } from './tree.ts'

/** A directory with changes that are planned, but not written yet: what the next fork of one apply meets. */
export class PlannedTree implements DirectoryTree {
  readonly path: string
  readonly #directory: DirectoryTree
  readonly #planned = new Map<string, LinkEntry | undefined>()
  /** Names of the forks with these changes. */
  readonly #forks = new Map<string, string>()

  constructor(directory: DirectoryTree) {
    this.path = directory.path
    this.#directory = directory
  }

  add(changes: readonly TreeChange[], fork: string): void {
    for (const { path, after } of changes) {
      this.#planned.set(path, after)
      this.#forks.set(path, fork)
    }
  }

  /** Returns the error of a fork that cannot be planned, with the earlier forks that change the same paths. */
  nameRivals({ conflicts }: ApplyError, isMerge: boolean): ApplyError {
    const named = conflicts.map((conflict) => {
      const rival = this.#findFork(conflict.path)
      if (rival === undefined) return conflict
      const reason = isMerge ? `${conflict.reason}; ${rival} changes it too` : `changes in ${rival} too`
      return { ...conflict, reason, rival }
    })
    return new ApplyError(this.path, named)
  }

  /** Returns the fork that changes a path, or something above it. */
  #findFork(path: string): string | undefined {
    const above = [path, ...listAncestors(path).toReversed()].find((each) => this.#forks.has(each))
    return above === undefined ? undefined : this.#forks.get(above)
  }

  findEntry(path: string): LinkEntry | undefined {
    return this.#planned.has(path) ? this.#planned.get(path) : this.#directory.findEntry(path)
  }

  isLink(path: string): boolean {
    return this.#planned.has(path)
      ? this.#planned.get(path)?.type === 'symlink'
      : this.#directory.isLink(path)
  }

  listNames(path: string): string[] {
    const names = new Set(this.#directory.listNames(path))
    for (const [planned, entry] of this.#planned) {
      if (getParent(planned) !== path) continue
      const name = splitPath(planned).at(-1) ?? ''
      if (entry === undefined) names.delete(name)
      else names.add(name)
    }
    return [...names]
  }
}
