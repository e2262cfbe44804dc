import { VfsError } from '../../vfs/index.ts'

const MAX_LISTED = 10

/** Path that conflicts with a change, and the reason. */
export interface ApplyConflict {
  readonly path: string
  readonly reason: string
  /** True if one can choose a side. */
  readonly isChoice?: true
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
