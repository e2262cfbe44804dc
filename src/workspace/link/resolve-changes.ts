import { isGitDirectory, parseGitPath } from '../../git-files/index.ts'
import { isErrno } from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { type ApplyConflict, ApplyError } from './apply-conflicts.ts'
import { sortChanges, type TreeChange } from './compare-trees.ts'
import type { DirectoryTree } from './directory-tree.ts'
import { DirectoryView } from './directory-view.ts'
import { isRefreshedIndex } from './git-index.ts'
import type { LinkEntry } from './link-entry.ts'
import { type EntryMerge, type EntryMergeOptions, mergeEntries } from './merge-entries.ts'
import { type CommitTrees, mergeGitChange } from './merge-git.ts'
import { getParent, joinPath, listAncestors } from './tree.ts'
import { TypeConflictMerge } from './type-conflict-merge.ts'
import { isSameState } from './unpacked-refs.ts'
import { createWriteError } from './write-error.ts'
import { DirectoryRefs } from './written-refs.ts'

export interface ResolveOptions {
  /** True for a path whose earlier state is not known for certain. */
  isUnsure(path: string): boolean
  /** Merges where the directory has changed too; without it that is a conflict. */
  readonly merge?: EntryMergeOptions | undefined
  /** Returns a directory of the fork, to create it again above a change. */
  findParent(path: string): LinkEntry | undefined
  /** Trees with the commits of both sides; without them a ref that moved is a conflict. */
  readonly commits?: CommitTrees
}

export interface ResolvedChanges {
  /** Changes that the directory does not have yet. */
  readonly pending: readonly TreeChange[]
  /** States of the directory, before and after, at paths where they are not those of the given changes. */
  readonly settled: readonly TreeChange[]
}

/**
 * Decides what to write for each change. Changes of packed refs are given as those of loose ones, see
 * `unpackRefChanges`. Throws ApplyError if a path is neither in its earlier nor in its new state, and
 * cannot be merged; EACCES if this user may not look at it.
 */
export function resolveChanges(
  directory: DirectoryTree,
  changes: readonly TreeChange[],
  options: ResolveOptions,
): ResolvedChanges {
  const resolver = new ChangeResolver(directory, changes, options)
  for (const change of changes) {
    try {
      resolver.add(change)
    } catch (error) {
      throw createCheckError(directory.path, changes, change.path, error)
    }
  }
  return resolver.finish()
}

class ChangeResolver {
  readonly #directory: DirectoryTree
  readonly #view: DirectoryView
  readonly #refs: DirectoryRefs
  readonly #options: ResolveOptions
  /** Paths that the changes remove. */
  readonly #removed: ReadonlySet<string>
  readonly #pending = new Map<string, TreeChange>()
  readonly #settled = new Map<string, TreeChange>()
  readonly #conflicts: ApplyConflict[] = []
  /** Paths that the directory has in their earlier state, so that the change is written as it is. */
  readonly #unchanged = new Set<string>()
  /** Removed paths that stay, because the directory has changed them. */
  readonly #kept = new Set<string>()
  readonly #types: TypeConflictMerge | undefined
  #hasNewParents = false

  constructor(directory: DirectoryTree, changes: readonly TreeChange[], options: ResolveOptions) {
    this.#directory = directory
    this.#view = new DirectoryView(directory)
    this.#options = options
    this.#removed = new Set(changes.filter(({ after }) => after === undefined).map(({ path }) => path))
    this.#refs = new DirectoryRefs((path) => this.#view.findEntry(path), this.#removed)
    const { merge } = options
    if (merge !== undefined)
      this.#types = new TypeConflictMerge({ directory, changes, isUnsure: options.isUnsure, merge })
  }

  add(change: TreeChange): void {
    const { path, before, after } = change
    const typed = this.#types?.resolve(change, this.#options.findParent)
    if (typed !== undefined) {
      this.#conflicts.push(...typed.conflicts)
      for (const merged of typed.changes) this.#settle(merged)
      return
    }
    try {
      this.#resolve(change)
    } catch (error) {
      // An entry that vanishes during the check counts as changed.
      if (!isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) throw error
      this.#conflicts.push({ path, reason: 'changed meanwhile' })
    }
    const isUnchanged = this.#unchanged.has(path)
    if (isUnchanged && before?.type === 'symlink') this.#view.markRemoved(path)
    if (isUnchanged && before?.type === 'directory' && after?.type !== 'directory') this.#checkEntries(change)
  }

  finish(): ResolvedChanges {
    this.#keepOccupied()
    this.#addLostParents()
    if (this.#conflicts.length > 0) throw new ApplyError(this.#directory.path, this.#conflicts)
    const pending = this.#refs.toFileChanges([...this.#pending.values()])
    return {
      pending: this.#options.merge === undefined && !this.#hasNewParents ? pending : sortChanges(pending),
      settled: [...this.#settled.values()],
    }
  }

  #resolve(change: TreeChange): void {
    const { path, before, after } = change
    const { merge, commits } = this.#options
    if (this.#view.isBehindLink(path)) {
      this.#conflicts.push({ path, reason: 'is now behind a symbolic link' })
      return
    }
    const loose = this.#view.findEntry(path)
    const packed = this.#refs.findPacked(change, loose)
    const current = packed ?? loose
    if (isSameState(path, current, after)) {
      this.#settled.set(path, { path, before: current, after: current })
      return
    }
    const isUnsure = this.#isUnsure(change)
    const git = mergeGitChange(change, current, { removed: this.#removed, isUnsure, commits })
    if (git !== undefined) this.#addMerged(change, current, git)
    else if (!isUnsure && isAsBefore(change, current)) {
      // The earlier entry is read from the directory: the mirror changes before it.
      this.#pending.set(path, { ...change, before: current })
      this.#unchanged.add(path)
      // An undo needs the earlier state, which no mirror has.
      if (packed !== undefined) this.#settled.set(path, { path, before: packed, after })
    } else if (merge !== undefined) this.#merge(change, current, merge)
    else this.#conflicts.push({ path, reason: explainConflict(before, current, isUnsure) })
  }

  /** True if the earlier state of a path is not known for certain. A path without one has nothing to be unsure of. */
  #isUnsure({ path, before }: TreeChange): boolean {
    return before !== undefined && this.#options.isUnsure(path)
  }

  #merge(change: TreeChange, current: LinkEntry | undefined, options: EntryMergeOptions): void {
    const { path, before, after } = change
    const isBaseLost = this.#isUnsure(change)
    const base = isBaseLost ? undefined : before
    const merged = mergeEntries(path, { base, ours: current, theirs: after, isBaseLost }, options)
    if ('conflict' in merged) this.#conflicts.push({ path, reason: merged.conflict, isChoice: true })
    else this.#addMerged(change, current, merged)
    if ('beside' in merged && merged.beside !== undefined)
      this.#addBeside(path, merged.beside, options.names.theirs)
  }

  #addMerged({ path, after }: TreeChange, current: LinkEntry | undefined, merged: EntryMerge): void {
    if ('conflict' in merged) {
      this.#conflicts.push({ path, reason: merged.conflict })
      return
    }
    const { entry, isUnresolved = false } = merged
    const change = {
      path,
      before: current,
      after: entry,
      isMerged: true,
      ...(isUnresolved && { isUnresolved }),
    }
    if (after === undefined && entry !== undefined) this.#kept.add(path)
    this.#settle(change)
  }

  #settle(change: TreeChange): void {
    const { path, before, after } = change
    this.#settled.set(path, change)
    if (!isSameState(path, before, after)) this.#pending.set(path, change)
  }

  #addBeside(path: string, entry: LinkEntry, name: string): void {
    let free = `${path}~${name}`
    while (this.#view.findEntry(free) !== undefined || this.#pending.has(free)) free += '~'
    const change = { path: free, before: undefined, after: entry, isMerged: true, isUnresolved: true }
    this.#pending.set(free, change)
    this.#settled.set(free, change)
  }

  /**
   * Looks for entries that another process put into a directory that is to be removed. A merge keeps the directory then,
   * and so does any apply one of git's own; otherwise each is a conflict.
   */
  #checkEntries({ path, after }: TreeChange): void {
    const names = this.#directory.listNames(path).map((name) => joinPath(path, name))
    const found = names.filter((path) => !this.#removed.has(path))
    const isOwn = isGitDirectory(path) && !this.#removed.has(parseGitPath(path)?.root ?? '')
    const canKeep = after === undefined && (this.#options.merge !== undefined || isOwn)
    if (found.length > 0 && canKeep) this.#keep(path)
    else this.#conflicts.push(...found.map((path) => ({ path, reason: 'was created meanwhile' })))
  }

  /** Keeps a directory that the changes remove. */
  #keep(path: string): void {
    const current = this.#view.findEntry(path)
    this.#kept.add(path)
    this.#pending.delete(path)
    this.#settled.set(path, { path, before: current, after: current, isMerged: true })
  }

  /** Keeps the directories above what stays. */
  #keepOccupied(): void {
    for (const above of new Set([...this.#kept].flatMap(listAncestors))) {
      const change = this.#pending.get(above)
      if (change?.before?.type !== 'directory' || change.after?.type === 'directory') continue
      if (change.after === undefined) this.#keep(above)
      else this.#conflicts.push({ path: above, reason: 'has entries that changed meanwhile' })
    }
  }

  /**
   * Creates the directories again that another process removed above a change. Without a merge they are conflicts, unless
   * git removed them because they were empty.
   */
  #addLostParents(): void {
    const kept = [...this.#pending.values()].filter(({ after }) => after !== undefined)
    for (const above of new Set(kept.flatMap(({ path }) => listAncestors(path)))) {
      const current = this.#pending.has(above) ? this.#pending.get(above)?.after : this.#view.findEntry(above)
      if (current?.type === 'directory') continue
      const isOwn = isGitDirectory(above)
      const after = current === undefined ? this.#findParent(above, isOwn) : undefined
      if ((this.#options.merge === undefined && !isOwn) || after?.type !== 'directory')
        this.#conflicts.push({ path: above, reason: explainConflict(after, current, false) })
      else {
        const change = { path: above, before: undefined, after, isMerged: true }
        this.#pending.set(above, change)
        this.#settled.set(above, change)
        this.#hasNewParents = true
      }
    }
  }

  /** Returns a directory to create: that of the fork, or for one of git's own as the next one above. */
  #findParent(path: string, isOwn: boolean): LinkEntry | undefined {
    const known = this.#options.findParent(path)
    if (known !== undefined || !isOwn) return known
    const above = getParent(path)
    return this.#pending.get(above)?.after ?? this.#view.findEntry(above)
  }
}

function isAsBefore({ path, before, after }: TreeChange, current: LinkEntry | undefined): boolean {
  if (isSameState(path, current, before) || isRefreshedIndex(path, current, before)) return true
  // Git removes a directory of refs when it is empty.
  if (current === undefined && before?.type === 'directory' && isGitDirectory(path)) return true
  // Its entries count, not its permissions: the user may have opened a closed directory.
  return after === undefined && before?.type === 'directory' && current?.type === 'directory'
}

function explainConflict(
  before: LinkEntry | undefined,
  current: LinkEntry | undefined,
  isUnsure: boolean,
): string {
  if (isUnsure) return 'changed while the command ran'
  if (current === undefined) return 'was removed meanwhile'
  return before === undefined ? 'was created meanwhile' : 'changed meanwhile'
}

/** Creates the error of a failed check. If it failed in a directory that an apply closed, says how to open that. */
function createCheckError(
  root: string,
  changes: readonly TreeChange[],
  path: string,
  error: unknown,
): unknown {
  const above = [...listAncestors(path), path]
  const closed = changes.find(({ path, before }) => before?.type === 'directory' && above.includes(path))
  if (closed === undefined || !isErrno(error, 'EACCES')) return createWriteError(root, undefined, error)
  const mode = closed.after === undefined ? 'u+rwx' : closed.after.mode.toString(8).padStart(4, '0')
  const command = `chmod ${mode} '${root}${closed.path}'`
  const detail = `nothing was written to ${root}: you may not look into ${closed.path}; run ${command} and try again`
  return new VfsError('EACCES', root, { op: 'apply', detail, cause: error })
}
