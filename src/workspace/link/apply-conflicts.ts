import { VfsError } from '../../vfs/index.ts'

const MAX_LISTED = 10

/** A path at which changes cannot be written, and the reason. */
export interface ApplyConflict {
  readonly path: string
  readonly reason: string
  /** True if a person can choose one of both versions. */
  readonly isChoice?: true
  /** Name of an earlier fork of the same apply that changes the path too. */
  readonly rival?: string
}

/** Thrown if changes cannot be written to a directory, mostly because it changed too. `conflicts` lists every path. */
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
