import type { TreeChange } from './compare-trees.ts'
import type { DirectoryTree } from './directory-tree.ts'
import type { LinkEntry } from './link-entry.ts'
import { getParent, splitPath } from './tree.ts'

/** A directory with changes that are planned, but not written yet: what the next fork of one apply meets. */
export class PlannedTree implements DirectoryTree {
  readonly path: string
  readonly #directory: DirectoryTree
  readonly #planned = new Map<string, LinkEntry | undefined>()

  constructor(directory: DirectoryTree) {
    this.path = directory.path
    this.#directory = directory
  }

  add(changes: readonly TreeChange[]): void {
    for (const { path, after } of changes) this.#planned.set(path, after)
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
