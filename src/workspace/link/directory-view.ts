import type { DirectoryTree } from './directory-tree.ts'
import type { LinkEntry } from './link-entry.ts'
import { listAncestors } from './tree.ts'

/**
 * The directory as a sequence of changes sees it. Once a change removes a link, nothing is behind it for later
 * changes.
 */
export class DirectoryView {
  readonly #root: DirectoryTree
  readonly #removed = new Set<string>()

  constructor(root: DirectoryTree) {
    this.#root = root
  }

  markRemoved(link: string): void {
    this.#removed.add(link)
  }

  isBehindLink(path: string): boolean {
    const above = listAncestors(path)
    return !this.#isBelowRemoved(path) && above.some((at) => this.#root.isLink(at))
  }

  findEntry(path: string): LinkEntry | undefined {
    return this.#isBelowRemoved(path) ? undefined : this.#root.findEntry(path)
  }

  #isBelowRemoved(path: string): boolean {
    return listAncestors(path).some((at) => this.#removed.has(at))
  }
}
