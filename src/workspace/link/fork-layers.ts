import { isSameEntry } from './link-entry.ts'
import { listNamesIn, ROOT_INODE, readInode, splitPath, type TreeFiles } from './tree.ts'

/** The two vaults of a fork: its base, which has only the paths that a fork touched, and the fork itself. */
export interface LayerTrees {
  readonly before: TreeFiles
  readonly after: TreeFiles
}

/** State of a path in a fork of a directory. */
export interface LayeredPath {
  /**
   * Source of its entry: the fork, which has changed it, or the directory. Undefined if there is none: the fork has
   * removed it, or its parent.
   */
  readonly source: 'fork' | 'directory' | undefined
  /** True if entries of the directory are visible below it, beside those of the fork. */
  readonly showsDirectory: boolean
  /** Inodes of the path in the two vaults. */
  readonly before: number | undefined
  readonly after: number | undefined
}

/** Decides path by path whether a fork has changed it. O(names in the path), whatever the size of the fork. */
export class ForkLayers {
  readonly #before: TreeFiles
  readonly #after: TreeFiles
  #last: { readonly path: string; readonly found: LayeredPath } | undefined

  constructor({ before, after }: LayerTrees) {
    this.#before = before
    this.#after = after
  }

  /** Returns the state of a path. The steps of an operation look the same path up in a row, which is done once. */
  find(path: string): LayeredPath {
    if (this.#last?.path !== path) this.#last = { path, found: this.#lookUp(path) }
    return this.#last.found
  }

  /** Returns the state of a name in a directory. */
  enter(parent: LayeredPath, name: string): LayeredPath {
    const before = findChild(this.#before, parent.before, name)
    const after = findChild(this.#after, parent.after, name)
    const isParentVisible = parent.showsDirectory
    if (before === undefined && after === undefined)
      return {
        source: isParentVisible ? 'directory' : undefined,
        showsDirectory: isParentVisible,
        before,
        after,
      }
    if (this.#isSame(before, after))
      return { source: 'directory', showsDirectory: isParentVisible, before, after }
    if (after === undefined) return { source: undefined, showsDirectory: false, before, after }
    // A directory that replaced a file or a link has no entries below it in the linked directory. A new one may have some
    // by now.
    const wasOpen = before === undefined || isDirectory(this.#before, before)
    return {
      source: 'fork',
      showsDirectory: isParentVisible && wasOpen && isDirectory(this.#after, after),
      before,
      after,
    }
  }

  /** True if an entry is that of the directory, and the fork has touched neither it nor anything below it. */
  isUntouched({ source, before, after }: LayeredPath): boolean {
    return source === 'directory' && before === undefined && after === undefined
  }

  /** Lists the names in a directory that the fork or its base has. */
  listNames({ before, after }: LayeredPath): string[] {
    return [...new Set([...listNamesIn(this.#before, before), ...listNamesIn(this.#after, after)])]
  }

  /** True if the fork has changed something below a path; a removal counts. */
  hasChangesBelow(path: LayeredPath): boolean {
    return this.#hasBelow(path, ({ source }) => source !== 'directory')
  }

  /** True if the fork has created or changed an entry below a path; a removal does not count. */
  hasEntriesBelow(path: LayeredPath): boolean {
    return this.#hasBelow(path, ({ source }) => source === 'fork')
  }

  #hasBelow(path: LayeredPath, isWanted: (child: LayeredPath) => boolean): boolean {
    return this.listNames(path).some((name) => {
      const child = this.enter(path, name)
      return isWanted(child) || this.#hasBelow(child, isWanted)
    })
  }

  #lookUp(path: string): LayeredPath {
    return this.#after.readTogether(() => {
      let found: LayeredPath = {
        source: 'directory',
        showsDirectory: true,
        before: ROOT_INODE,
        after: ROOT_INODE,
      }
      for (const name of splitPath(path)) {
        // Neither vault has more of the path, so the rest of it has the same state.
        if (found.before === undefined && found.after === undefined) return found
        found = this.enter(found, name)
      }
      return found
    })
  }

  #isSame(before: number | undefined, after: number | undefined): boolean {
    if (before === undefined || after === undefined) return false
    return isSameEntry(readInode(this.#before, before), readInode(this.#after, after))
  }
}

function findChild(tree: TreeFiles, parent: number | undefined, name: string): number | undefined {
  return parent !== undefined && isDirectory(tree, parent) ? tree.lookup(parent, name) : undefined
}

function isDirectory(tree: TreeFiles, ino: number): boolean {
  return tree.getattr(ino).type === 'directory'
}
