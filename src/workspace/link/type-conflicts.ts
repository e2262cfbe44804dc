import { parseGitPath } from '../../git-files/index.ts'
import { isErrno } from '../../machine/index.ts'
import type { TreeChange } from './compare-trees.ts'
import type { DirectoryTree } from './directory-tree.ts'
import type { LinkEntry } from './link-entry.ts'
import { joinPath, listAncestors } from './tree.ts'
import { isSameState } from './unpacked-refs.ts'

/** A path at which one side has a directory and the other has none. What is below belongs to it. */
export interface TypeConflict {
  readonly path: string
  readonly ours: LinkEntry
  /** Undefined if the fork changed nothing but entries of its directory. */
  readonly theirs: LinkEntry | undefined
  readonly reason: string
}

/** Input of the search for type conflicts. */
interface TypeSearch {
  readonly directory: DirectoryTree
  readonly changes: readonly TreeChange[]
  /** True for a path whose earlier state is not known for certain. */
  isUnsure(path: string): boolean
}

/** Finds the type conflicts of changes, a directory before its entries, with a directory. Git merges its own files. */
export function findTypeConflicts(search: TypeSearch): TypeConflict[] {
  return new TypeConflictFinder(search).find()
}

class TypeConflictFinder {
  readonly #search: TypeSearch
  readonly #byPath: ReadonlyMap<string, TreeChange>

  constructor(search: TypeSearch) {
    this.#search = search
    this.#byPath = new Map(search.changes.map((change) => [change.path, change]))
  }

  find(): TypeConflict[] {
    const found = new Map<string, TypeConflict>()
    for (const change of this.#search.changes) {
      const { path, after } = change
      const isBelow = listAncestors(path).some((above) => found.has(above))
      if (after === undefined || isBelow || parseGitPath(path) !== undefined) continue
      const conflict = this.#findAbove(path) ?? this.#findAt(change, after)
      if (conflict !== undefined) found.set(conflict.path, conflict)
    }
    return [...found.values()]
  }

  /** Finds a file above a change, in place of the directory that the fork still has. */
  #findAbove(path: string): TypeConflict | undefined {
    for (const above of listAncestors(path)) {
      if (this.#byPath.get(above)?.after?.type === 'directory') return undefined
      const ours = this.#findEntry(above)
      if (ours === undefined || ours.type === 'symlink') return undefined
      if (ours.type !== 'directory')
        return { path: above, ours, theirs: undefined, reason: explain(ours, 'directory') }
    }
    return undefined
  }

  #findAt({ path, before }: TreeChange, theirs: LinkEntry): TypeConflict | undefined {
    const ours = this.#findEntry(path)
    if (ours === undefined || (ours.type === 'directory') === (theirs.type === 'directory')) return undefined
    const isUnchanged = before?.type === 'directory' ? !this.#hasChanges(path) : this.#isAsBefore(path, ours)
    return isUnchanged ? undefined : { path, ours, theirs, reason: explain(ours, theirs.type) }
  }

  /** True if a directory, or anything below it, is not as the fork knew it. */
  #hasChanges(path: string): boolean {
    const { directory } = this.#search
    return directory.listNames(path).some((name) => {
      const below = joinPath(path, name)
      const entry = this.#findEntry(below)
      if (entry === undefined) return false
      if (entry.type === 'directory')
        return this.#byPath.get(below)?.before?.type !== 'directory' || this.#hasChanges(below)
      return !this.#isAsBefore(below, entry)
    })
  }

  #isAsBefore(path: string, entry: LinkEntry): boolean {
    const before = this.#byPath.get(path)?.before
    return before !== undefined && !this.#search.isUnsure(path) && isSameState(path, entry, before)
  }

  #findEntry(path: string): LinkEntry | undefined {
    try {
      return this.#search.directory.findEntry(path)
    } catch (error) {
      if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined
      throw error
    }
  }
}

function explain(ours: LinkEntry, theirs: LinkEntry['type']): string {
  return `is a ${formatType(ours.type)} here, and a ${formatType(theirs)} in the fork`
}

function formatType(type: LinkEntry['type']): string {
  return type === 'symlink' ? 'link' : type === 'other' ? 'special file' : type
}
