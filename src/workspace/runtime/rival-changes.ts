import {
  compareTrees,
  findEntry,
  getParent,
  isRefreshedIndex,
  isSameEntry,
  type LinkEntry,
  mergeEntries,
  putEntry,
  removeEntry,
  type TreeFiles,
} from '../link/index.ts'

/** A path that a command changed, and that others changed in the fork while it ran. */
interface RivalChange {
  readonly path: string
  /** The entry that both sides started from. */
  readonly base: LinkEntry | undefined
  /** The entry of the others. */
  readonly ours: LinkEntry | undefined
}

/** A fork when a command began and when it ended, and the paths that the command changed. */
export interface RivalSearch {
  /** The fork as the command found it. */
  readonly start: TreeFiles
  /** The fork now, before the command's changes enter it, and its base. */
  readonly current: { readonly before: TreeFiles; readonly after: TreeFiles }
  /** Reports whether a path differed from the directory when the command began. */
  isKnown(path: string): boolean
  /** Reports whether the command changed a path. */
  isOwn(path: string): boolean
}

/** Lists the paths that a command and others changed at the same time, a directory before its entries. */
export function listRivalChanges(search: RivalSearch): RivalChange[] {
  const { start, current } = search
  return compareTrees(start, current.after)
    .filter(({ path }) => search.isOwn(path))
    .map(({ path }) => ({
      path,
      // Any other path was as in the directory.
      base: findEntry(search.isKnown(path) ? start : current.before, path),
      ours: findEntry(current.after, path),
    }))
    .filter(({ path, base, ours }) => !isSameEntry(base, ours) && !isRefreshedIndex(path, base, ours))
}

/**
 * Merges the changes of others into a tree that has those of the command. Returns the paths that cannot be merged,
 * which stay as the command left them.
 */
export function mergeRivalChanges(tree: TreeFiles, rivals: readonly RivalChange[]): string[] {
  return rivals.flatMap(({ path, base, ours }) => {
    const theirs = findEntry(tree, path)
    // `git status` of the command changes nothing that is staged.
    const merged = isRefreshedIndex(path, base, theirs)
      ? { entry: ours }
      : mergeEntries(path, { base, ours, theirs }, { names: SIDES, onConflict: 'fail' })
    if ('conflict' in merged) return [path]
    if (isSameEntry(merged.entry, theirs)) return []
    if (merged.entry === undefined) removeEntry(tree, path)
    else if (hasDirectoryFor(tree, path)) putEntry(tree, path, merged.entry)
    else return [path]
    return []
  })
}

/** Names of conflict markers, which are not written. */
const SIDES = { ours: 'others', theirs: 'the command' }

/** Reports whether a path can be created: no entry above it is a file or link. */
function hasDirectoryFor(tree: TreeFiles, path: string): boolean {
  for (let above = getParent(path); above !== '/'; above = getParent(above)) {
    const entry = findEntry(tree, above)
    if (entry !== undefined) return entry.type === 'directory'
  }
  return true
}
