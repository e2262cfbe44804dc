import type { ApplyConflict } from './apply-conflicts.ts'
import type { TreeChange } from './compare-trees.ts'
import type { DirectoryTree } from './directory-tree.ts'
import type { LinkEntry } from './link-entry.ts'
import type { EntryMergeOptions } from './merge-entries.ts'
import { joinPath, listAncestors } from './tree.ts'
import { findTypeConflicts, type TypeConflict } from './type-conflicts.ts'

interface TypeMergeOptions {
  readonly directory: DirectoryTree
  readonly changes: readonly TreeChange[]
  readonly merge: EntryMergeOptions
  isUnsure(path: string): boolean
}

/** Result for one change in a type conflict: changes of the directory, or the conflict. */
interface ResolvedType {
  readonly changes: readonly TreeChange[]
  readonly conflicts: readonly ApplyConflict[]
}

type Choice = 'fail' | 'ours' | 'theirs' | 'beside'

/** Resolves the changes in type conflicts, by one choice for all of a conflict. */
export class TypeConflictMerge {
  readonly #directory: DirectoryTree
  readonly #merge: EntryMergeOptions
  readonly #paths: ReadonlySet<string>
  readonly #conflicts: ReadonlyMap<string, TypeConflict>
  /** Conflicts of which a change was resolved. */
  readonly #begun = new Set<string>()

  constructor({ directory, changes, merge, isUnsure }: TypeMergeOptions) {
    this.#directory = directory
    this.#merge = merge
    this.#paths = new Set(changes.map(({ path }) => path))
    const found = findTypeConflicts({ directory, changes, isUnsure })
    this.#conflicts = new Map(found.map((conflict) => [conflict.path, conflict]))
  }

  /** Resolves a change, a directory before its entries; undefined if it is in no type conflict. */
  resolve(change: TreeChange, findParent: (path: string) => LinkEntry | undefined): ResolvedType | undefined {
    const conflict = this.#find(change.path)
    if (conflict === undefined) return undefined
    const { path, reason } = conflict
    const isFirst = !this.#begun.has(path)
    this.#begun.add(path)
    const choice = this.#getChoice(path)
    if (choice === 'fail')
      return { changes: [], conflicts: isFirst ? [{ path, reason, isChoice: true }] : [] }
    const root = { path, before: conflict.ours, after: conflict.theirs ?? findParent(path) }
    // The root is a change itself, or an entry above the changes.
    const all = isFirst && change.path !== path ? [root, change] : [change.path === path ? root : change]
    const changes = all.flatMap((each) => this.#resolveChange(each, conflict, choice))
    return { changes, conflicts: [] }
  }

  #resolveChange(change: TreeChange, conflict: TypeConflict, choice: Choice): TreeChange[] {
    const { path, after } = change
    const before = path === conflict.path ? conflict.ours : this.#findEntry(path, conflict)
    if (choice === 'theirs') {
      const removed = path === conflict.path ? this.#listOthers(path) : []
      return [{ path, before, after, isMerged: true }, ...removed]
    }
    const kept = { path, before, after: before, isMerged: true }
    if (choice === 'ours' || after === undefined) return [kept]
    const isUnresolved = this.#merge.onConflict === 'both' && path === conflict.path
    const beside = this.#findBeside(conflict.path) + path.slice(conflict.path.length)
    return [
      kept,
      { path: beside, before: undefined, after, isMerged: true, ...(isUnresolved && { isUnresolved }) },
    ]
  }

  /** Lists the removals of all entries below a path that no change removes. */
  #listOthers(path: string): TreeChange[] {
    return this.#directory.listNames(path).flatMap((name) => {
      const below = joinPath(path, name)
      const before = this.#directory.findEntry(below)
      const own = this.#paths.has(below) ? [] : [{ path: below, before, after: undefined, isMerged: true }]
      return before?.type === 'directory' ? [...own, ...this.#listOthers(below)] : own
    })
  }

  /** Returns the entry of the directory; none below a file. */
  #findEntry(path: string, { ours }: TypeConflict): LinkEntry | undefined {
    return ours.type === 'directory' ? this.#directory.findEntry(path) : undefined
  }

  #findBeside(path: string): string {
    let free = `${path}~${this.#merge.names.theirs}`
    while (this.#directory.findEntry(free) !== undefined || this.#paths.has(free)) free += '~'
    return free
  }

  #getChoice(path: string): Choice {
    const choice = this.#merge.resolutions?.get(path) ?? this.#merge.onConflict
    if (choice === 'ours' || choice === 'theirs') return choice
    return choice === 'both' || choice === 'union' ? 'beside' : 'fail'
  }

  #find(path: string): TypeConflict | undefined {
    for (const each of [...listAncestors(path), path]) {
      const conflict = this.#conflicts.get(each)
      if (conflict !== undefined) return conflict
    }
    return undefined
  }
}
