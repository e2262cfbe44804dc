import { VfsError } from '../../vfs/index.ts'
import type { TreeChange } from './compare-trees.ts'
import { type Entry, isSameEntry } from './entry.ts'
import { isRefreshedIndex } from './git-index.ts'
import { isErrno } from './host-stats.ts'
import type { HostTree } from './host-tree.ts'
import { ancestorsOf, childOf } from './tree.ts'
import { notWritten } from './write-failure.ts'

const LISTED = 10

/** What stands in the way of a change, and why. */
export interface ApplyConflict {
  readonly path: string
  readonly reason: string
}

/** The directory is not what the changes began from. `conflicts` names every path. */
export class ApplyError extends VfsError {
  readonly conflicts: readonly ApplyConflict[]

  constructor(directory: string, conflicts: readonly ApplyConflict[]) {
    const told = conflicts.slice(0, LISTED).map(({ path, reason }) => `${path} ${reason}`)
    const more = conflicts.length > LISTED ? `, and ${conflicts.length - LISTED} more` : ''
    const detail = `nothing was written to ${directory}: ${told.join(', ')}${more}`
    super('ECONFLICT', directory, { op: 'apply', detail })
    this.conflicts = conflicts
  }
}

/**
 * The changes that are still to be made in a directory: what is there already as it should be needs nothing.
 * ApplyError if anything is neither as it was before nor as it is to be.
 */
export function pendingChanges(
  root: HostTree,
  changes: readonly TreeChange[],
  isUnsure: (path: string) => boolean,
): TreeChange[] {
  const conflicts: ApplyConflict[] = []
  const pending: TreeChange[] = []
  const directory = new DirectoryNow(root)
  const removed = new Set(changes.filter(({ after }) => after === undefined).map(({ path }) => path))
  for (const change of changes) {
    const { path, before, after } = change
    const reason = reasonFor(root, directory, change, isUnsure)
    if (reason === 'done') continue
    if (reason !== undefined) conflicts.push({ path, reason })
    else {
      pending.push(change)
      if (before?.type === 'symlink') directory.takesAway(path)
    }
    if (before?.type === 'directory' && after?.type !== 'directory')
      conflicts.push(...strangersIn(root, path, removed))
  }
  if (conflicts.length > 0) throw new ApplyError(root.path, conflicts)
  return pending
}

/** What vanishes while it is looked at has changed, too. EACCES and the like are told as failures to write. */
function reasonFor(
  root: HostTree,
  directory: DirectoryNow,
  change: TreeChange,
  isUnsure: (path: string) => boolean,
): string | undefined {
  try {
    return reasonAgainst(directory, change, isUnsure)
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return 'was changed meanwhile'
    throw notWritten(root.path, undefined, error)
  }
}

function reasonAgainst(
  directory: DirectoryNow,
  { path, before, after }: TreeChange,
  isUnsure: (path: string) => boolean,
): string | undefined {
  if (directory.isBehindLink(path)) return 'is behind a symbolic link now'
  const there = directory.entry(path)
  if (isSameEntry(there, after)) return 'done'
  if (isUnsure(path)) return 'was changed while the command ran'
  if (isSameEntry(there, before) || isRefreshedIndex(path, there, before)) return undefined
  if (there === undefined) return 'was removed meanwhile'
  return before === undefined ? 'was made meanwhile' : 'was changed meanwhile'
}

/** A directory as changes find it that come in order: of a link that one of them takes away, nothing is left to the next. */
class DirectoryNow {
  readonly #root: HostTree
  readonly #taken = new Set<string>()

  constructor(root: HostTree) {
    this.#root = root
  }

  takesAway(link: string): void {
    this.#taken.add(link)
  }

  isBehindLink(path: string): boolean {
    const above = ancestorsOf(path)
    return !this.#isBelowTaken(path) && above.some((at) => this.#root.stats(at)?.isSymbolicLink())
  }

  entry(path: string): Entry | undefined {
    return this.#isBelowTaken(path) ? undefined : this.#root.entry(path)
  }

  #isBelowTaken(path: string): boolean {
    return ancestorsOf(path).some((at) => this.#taken.has(at))
  }
}

/** What somebody put into a directory that is to go. */
function strangersIn(directory: HostTree, path: string, removed: ReadonlySet<string>): ApplyConflict[] {
  return directory
    .names(path)
    .map((name) => childOf(path, name))
    .filter((below) => !removed.has(below))
    .map((below) => ({ path: below, reason: 'was made meanwhile' }))
}
