import { readdirSync } from 'node:fs'
import { VfsError } from '../../vfs/index.ts'
import type { TreeChange } from './compare-trees.ts'
import { isSameEntry } from './entry.ts'
import { hostEntry } from './host-entry.ts'
import { statsAt } from './host-stats.ts'
import { childOf, namesOf } from './tree.ts'

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
  directory: string,
  changes: readonly TreeChange[],
  isUnsure: (path: string) => boolean,
): TreeChange[] {
  const conflicts: ApplyConflict[] = []
  const pending: TreeChange[] = []
  const removed = new Set(changes.filter(({ after }) => after === undefined).map(({ path }) => path))
  for (const change of changes) {
    const { path, before, after } = change
    const reason = reasonAgainst(directory, change, isUnsure)
    if (reason === 'done') continue
    if (reason !== undefined) conflicts.push({ path, reason })
    else pending.push(change)
    if (before?.type === 'directory' && after?.type !== 'directory')
      conflicts.push(...strangersIn(directory, path, removed))
  }
  if (conflicts.length > 0) throw new ApplyError(directory, conflicts)
  return pending
}

function reasonAgainst(
  directory: string,
  { path, before, after }: TreeChange,
  isUnsure: (path: string) => boolean,
): string | undefined {
  if (leadsThroughLink(directory, path)) return 'is behind a symbolic link now'
  const there = hostEntry(directory + path)
  if (isSameEntry(there, after)) return 'done'
  if (isUnsure(path)) return 'was changed while the command ran'
  if (isSameEntry(there, before)) return undefined
  if (there === undefined) return 'was removed meanwhile'
  return before === undefined ? 'was made meanwhile' : 'was changed meanwhile'
}

function leadsThroughLink(directory: string, path: string): boolean {
  let at = directory
  for (const name of namesOf(path).slice(0, -1)) {
    at = `${at}/${name}`
    if (statsAt(at)?.isSymbolicLink()) return true
  }
  return false
}

/** What somebody put into a directory that is to go. */
function strangersIn(directory: string, path: string, removed: ReadonlySet<string>): ApplyConflict[] {
  if (hostEntry(directory + path)?.type !== 'directory') return []
  return readdirSync(directory + path)
    .map((name) => childOf(path, name))
    .filter((below) => !removed.has(below))
    .map((below) => ({ path: below, reason: 'was made meanwhile' }))
}
