import { parseGitPath } from '../../git-files/index.ts'
import type { TreeChange } from './compare-trees.ts'
import { type FindEntry, listCommits, readCommitId } from './git-commits.ts'
import { isRefreshedIndex, mergeIndexes } from './git-index.ts'
import { createFileEntry, type LinkEntry, readEntry } from './link-entry.ts'
import type { EntryMerge } from './merge-entries.ts'
import { isSameState } from './unpacked-refs.ts'

const MAX_LOG_BYTES = 64 * 2 ** 20

/** The two trees in which commits are looked up. */
export interface CommitTrees {
  readonly directory: FindEntry
  readonly fork: FindEntry
}

export interface GitMergeOptions {
  /** Paths that the changes remove. A repository that goes as a whole follows no rule. */
  readonly removed: ReadonlySet<string>
  /** True if the earlier state is not known for certain. */
  readonly isUnsure: boolean
  readonly commits?: CommitTrees | undefined
}

/**
 * Merges a change inside of `.git` with the state of the directory, as git itself would: objects are only added, logs
 * grow, refs move forward, and the index is merged by its entries. Undefined where git has no rule.
 */
export function mergeGitChange(
  change: TreeChange,
  current: LinkEntry | undefined,
  { removed, isUnsure, commits }: GitMergeOptions,
): EntryMerge | undefined {
  const { path, before, after } = change
  const git = parseGitPath(path)
  if (git === undefined || removed.has(git.root)) return undefined
  // Another ref may need an object by now, so that only git may remove it.
  if (git.part === 'object' && (after === undefined || current?.type === 'file')) return { entry: current }
  if (!isUnsure && (isSameState(path, current, before) || isRefreshedIndex(path, current, before)))
    return undefined
  if (git.part === 'object-info' || git.part === 'note') return { entry: current }
  if (git.part === 'log') return { entry: mergeLog(before, current, after) }
  if (git.part === 'index') return mergeIndexEntries(before, current, after)
  if (git.part === 'ref' && commits !== undefined) return mergeRef(git.store, current, after, commits)
  return { conflict: git.part === 'ref' ? 'was moved here' : 'has other changes here' }
}

/** Appends the lines that the fork added. */
function mergeLog(
  before: LinkEntry | undefined,
  current: LinkEntry | undefined,
  after: LinkEntry | undefined,
): LinkEntry | undefined {
  if (current?.type !== 'file' || after?.type !== 'file') return current ?? after
  if (Math.max(current.size, after.size) > MAX_LOG_BYTES) return current
  const [old, added] = [before === undefined ? '' : readBytes(before), readBytes(after)]
  return added.startsWith(old)
    ? createFileEntry(current, Buffer.from(readBytes(current) + added.slice(old.length), 'latin1'))
    : current
}

function mergeIndexEntries(
  before: LinkEntry | undefined,
  current: LinkEntry | undefined,
  after: LinkEntry | undefined,
): EntryMerge {
  const merged = mergeIndexes(before, current, after)
  return merged === undefined || current === undefined
    ? { conflict: 'has other staged changes of the same files' }
    : { entry: createFileEntry(current, merged) }
}

/** Moves a ref forward: to the side whose commits include those of the other. */
function mergeRef(
  store: string,
  current: LinkEntry | undefined,
  after: LinkEntry | undefined,
  { directory, fork }: CommitTrees,
): EntryMerge {
  const [ours, theirs] = [readCommitId(current), readCommitId(after)]
  const findAny: FindEntry = (path) => fork(path) ?? directory(path)
  if (ours !== undefined && theirs !== undefined) {
    if (listCommits(findAny, store, theirs, ours).has(ours)) return { entry: after }
    if (listCommits(directory, store, ours, theirs).has(theirs)) return { entry: current }
  }
  return { conflict: 'has other commits here' }
}

function readBytes(entry: LinkEntry): string {
  return Buffer.from(readEntry(entry)).toString('latin1')
}
