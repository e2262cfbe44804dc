import { isErrno } from '../../machine/index.ts'
import { VfsError } from '../../vfs/index.ts'
import type { TreeChange } from './compare-trees.ts'
import { isRefreshedIndex } from './git-index.ts'
import type { HostTree } from './host-tree.ts'
import { isSameEntry, type LinkEntry } from './link-entry.ts'
import { joinPath, listAncestors } from './tree.ts'
import { createWriteError } from './write-error.ts'

const MAX_LISTED = 10

/** Path that conflicts with a change, and the reason. */
export interface ApplyConflict {
  readonly path: string
  readonly reason: string
}

/** Thrown if the directory differs from the base of the changes. `conflicts` lists every path. */
export class ApplyError extends VfsError {
  readonly conflicts: readonly ApplyConflict[]

  constructor(directory: string, conflicts: readonly ApplyConflict[]) {
    const listed = conflicts.slice(0, MAX_LISTED).map(({ path, reason }) => `${path} ${reason}`)
    const more = conflicts.length > MAX_LISTED ? `, and ${conflicts.length - MAX_LISTED} more` : ''
    const detail = `nothing was written to ${directory}: ${listed.join(', ')}${more}`
    super('ECONFLICT', directory, { op: 'apply', detail })
    this.conflicts = conflicts
  }
}

/**
 * Returns the changes that the directory does not have yet. ApplyError if a path is neither in its earlier nor in its
 * new state.
 */
export function findPendingChanges(
  root: HostTree,
  changes: readonly TreeChange[],
  isUnsure: (path: string) => boolean,
): TreeChange[] {
  const conflicts: ApplyConflict[] = []
  const pending: TreeChange[] = []
  const directory = new DirectoryView(root)
  const removed = new Set(changes.filter(({ after }) => after === undefined).map(({ path }) => path))
  for (const change of changes) {
    const { path, before, after } = change
    const reason = findConflictReason(root, directory, change, isUnsure)
    if (reason === 'done') continue
    if (reason !== undefined) conflicts.push({ path, reason })
    else {
      pending.push(change)
      if (before?.type === 'symlink') directory.markRemoved(path)
    }
    if (before?.type === 'directory' && after?.type !== 'directory')
      conflicts.push(...findUnexpectedEntries(root, path, removed))
  }
  if (conflicts.length > 0) throw new ApplyError(root.path, conflicts)
  return pending
}

/**
 * Returns the reason of a conflict. An entry that vanishes during the check counts as changed. EACCES and similar
 * codes are write errors.
 */
function findConflictReason(
  root: HostTree,
  directory: DirectoryView,
  change: TreeChange,
  isUnsure: (path: string) => boolean,
): string | undefined {
  try {
    return checkChange(directory, change, isUnsure)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return 'changed meanwhile'
    throw createWriteError(root.path, undefined, error)
  }
}

function checkChange(
  directory: DirectoryView,
  { path, before, after }: TreeChange,
  isUnsure: (path: string) => boolean,
): string | undefined {
  if (directory.isBehindLink(path)) return 'is now behind a symbolic link'
  const hostEntry = directory.findEntry(path)
  if (isSameEntry(hostEntry, after)) return 'done'
  if (isUnsure(path)) return 'changed while the command ran'
  if (isSameEntry(hostEntry, before) || isRefreshedIndex(path, hostEntry, before)) return undefined
  if (hostEntry === undefined) return 'was removed meanwhile'
  return before === undefined ? 'was created meanwhile' : 'changed meanwhile'
}

/**
 * The directory as a sequence of changes sees it. Once a change removes a link, nothing is behind it for later
 * changes.
 */
class DirectoryView {
  readonly #root: HostTree
  readonly #removed = new Set<string>()

  constructor(root: HostTree) {
    this.#root = root
  }

  markRemoved(link: string): void {
    this.#removed.add(link)
  }

  isBehindLink(path: string): boolean {
    const above = listAncestors(path)
    return !this.#isBelowRemoved(path) && above.some((at) => this.#root.findStats(at)?.isSymbolicLink())
  }

  findEntry(path: string): LinkEntry | undefined {
    return this.#isBelowRemoved(path) ? undefined : this.#root.findEntry(path)
  }

  #isBelowRemoved(path: string): boolean {
    return listAncestors(path).some((at) => this.#removed.has(at))
  }
}

/** Returns entries that another process put into a directory that is to be removed. */
function findUnexpectedEntries(
  directory: HostTree,
  path: string,
  removed: ReadonlySet<string>,
): ApplyConflict[] {
  return directory
    .listNames(path)
    .map((name) => joinPath(path, name))
    .filter((path) => !removed.has(path))
    .map((path) => ({ path: path, reason: 'was created meanwhile' }))
}
