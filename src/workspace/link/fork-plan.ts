import { SPECIAL_BITS } from '../../vfs/index.ts'
import { ApplyError } from './apply-conflicts.ts'
import { findFirstNames } from './compare-touched-paths.ts'
import { compareTrees, type TreeChange } from './compare-trees.ts'
import type { DirectoryTree } from './directory-tree.ts'
import type { ForkSecrets } from './fork-secrets.ts'
import { addGitDetails } from './git-commits.ts'
import { isSameEntry } from './link-entry.ts'
import type { EntryMergeOptions } from './merge-entries.ts'
import { isUnsure } from './mirror.ts'
import type { FirstNames } from './new-files.ts'
import { resolveChanges } from './resolve-changes.ts'
import { type ChangeSelection, selectChanges } from './select-changes.ts'
import { findEntry, type TreeFiles } from './tree.ts'
import { unpackRefChanges } from './unpacked-refs.ts'

/** The trees of a fork, and its placeholders. */
export interface OpenFork {
  readonly mirror: TreeFiles
  readonly after: TreeFiles
  readonly secrets: ForkSecrets | undefined
}

export interface PlanOptions extends ChangeSelection {
  /** Writes setuid and setgid bits of the fork. They are not written when absent. */
  readonly keepSetuid?: boolean
  readonly merge?: EntryMergeOptions | undefined
}

/** The planned apply of one fork. */
export interface ForkPlan {
  /** Changes of the fork that are applied: its mirror gets them. */
  readonly changes: readonly TreeChange[]
  /** Changes of the directory, with real values in place of placeholders. */
  readonly written: readonly TreeChange[]
  /** States of the directory that are not those of the mirror, with placeholders. */
  readonly settled: readonly TreeChange[]
  /** States of the directory at all paths, before and after, with placeholders. */
  readonly states: readonly TreeChange[]
  readonly names: FirstNames
  /** The changes, marked, and entries that a merge added. */
  readonly reported: readonly TreeChange[]
  /** True if the fork has no changes at all. */
  readonly isIdle: boolean
}

/**
 * Plans the apply of one fork to a directory. Throws ApplyError if the directory has changed at the same paths, or the
 * fork at picked ones.
 */
export function planFork(directory: DirectoryTree, fork: OpenFork, options: PlanOptions): ForkPlan {
  const { mirror, after, secrets } = fork
  const all = compareTrees(mirror, after)
  const { selected, others, outdated } = selectChanges(all, options)
  if (outdated.length > 0)
    throw new ApplyError(
      directory.path,
      outdated.map((path) => ({ path, reason: 'changed in the fork meanwhile' })),
    )
  const changes = options.keepSetuid === true ? selected : dropSetuid(selected)
  const view = secrets?.openMaskedTree(directory, mirror, after) ?? directory
  const unpacked = unpackRefChanges(changes, {
    before: (path) => findEntry(mirror, path),
    after: (path) => findEntry(after, path),
    directory: (path) => view.findEntry(path),
  })
  const { pending, settled } = resolveChanges(view, unpacked, {
    isUnsure: (path) => isUnsure(mirror, path),
    merge: options.merge,
    findParent: (path) => findEntry(after, path),
    commits: { directory: (path) => directory.findEntry(path), fork: (path) => findEntry(after, path) },
  })
  const written = secrets?.restoreForApply(directory, pending, others) ?? pending
  const own = new Map(changes.map((change) => [change.path, change.after]))
  // A merged file, or one with restored values, is no other name of one in the fork.
  const linked = written.filter(({ path, after }) => after?.hasOtherNames && after === own.get(path))
  const names = findFirstNames(
    after,
    linked.map(({ path }) => path),
  )
  const reported = addGitDetails(markChanges(unpacked, settled, written))
  const settledPaths = new Set(settled.map(({ path }) => path))
  const states = [...settled, ...pending.filter(({ path }) => !settledPaths.has(path))]
  return { changes, written, settled, states, names, reported, isIdle: all.length === 0 }
}

/** Marks the changes that were merged, and those whose files still have placeholders. Adds what a merge added. */
function markChanges(
  changes: readonly TreeChange[],
  settled: readonly TreeChange[],
  written: readonly TreeChange[],
): TreeChange[] {
  const merged = new Map(settled.map((change) => [change.path, change]))
  const masked = new Set(written.filter(({ hasPlaceholders }) => hasPlaceholders).map(({ path }) => path))
  const own = new Set(changes.map(({ path }) => path))
  const added = settled.filter(({ path, isMerged }) => isMerged && !own.has(path))
  return [...changes, ...added].map((change) => {
    const { isMerged = false, isUnresolved = false } = merged.get(change.path) ?? {}
    return {
      ...change,
      ...(masked.has(change.path) && { hasPlaceholders: true }),
      ...(isMerged && { isMerged }),
      ...(isUnresolved && { isUnresolved }),
    }
  })
}

/**
 * Returns changes that give no file setuid or setgid bits, without those that change nothing else. Directories keep
 * theirs.
 */
function dropSetuid(changes: readonly TreeChange[]): TreeChange[] {
  return changes.flatMap((change) => {
    const { before, after } = change
    if (after?.type !== 'file' || (after.mode & SPECIAL_BITS) === 0) return [change]
    const plain = { ...after, mode: after.mode & ~SPECIAL_BITS }
    return isSameEntry(before, plain) ? [] : [{ ...change, after: plain }]
  })
}
