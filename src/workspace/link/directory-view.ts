import type { DirectoryTree } from './directory-tree.ts'
import type { LinkEntry } from './link-entry.ts'
import { listAncestors } from './tree.ts'

/**
 * The directory as a sequence of changes sees it. Once a change removes a link, nothing is behind it for later
 * changes. Looks for a link once at each path.
 */
export class DirectoryView {
  readonly #root: DirectoryTree
  readonly #removed = new Set<string>()
  readonly #links = new Map<string, boolean>()

  constructor(root: DirectoryTree) {
    this.#root = root
  }

  markRemoved(link: string): void {
    this.#removed.add(link)
  }

  isBehindLink(path: string): boolean {
    return !this.#isBelowRemoved(path) && listAncestors(path).some((above) => this.#isLink(above))
  }

  findEntry(path: string): LinkEntry | undefined {
    return this.#isBelowRemoved(path) ? undefined : this.#root.findEntry(path)
  }

  #isLink(path: string): boolean {
    const known = this.#links.get(path)
    if (known !== undefined) return known
    const isLink = this.#root.isLink(path)
    this.#links.set(path, isLink)
    return isLink
  }

  #isBelowRemoved(path: string): boolean {
    return this.#removed.size > 0 && listAncestors(path).some((above) => this.#removed.has(above))
  }
}
