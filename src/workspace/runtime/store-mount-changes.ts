import type { CallContext } from '../../vfs/index.ts'
import type { ChangedFiles } from '../policy/index.ts'
import type { SessionChange } from '../session/index.ts'
import { toChangedFiles } from './changed-files.ts'
import { filterKept, listLeftOut } from './kept-changes.ts'
import type { LinkedWorkspace } from './linked-workspace.ts'

const NANOS_PER_MS = 1_000_000n

/** Changes that programs made through a mount of a fork, and paths that a fork cannot keep. */
export interface ForkMountChanges {
  readonly changed: ChangedFiles
  readonly leftOut: readonly string[]
}

/** Changes that were found in a mount. */
interface FoundChanges {
  readonly changes: readonly SessionChange[]
  /** Moment up to which the fork knows the directory, in milliseconds since the epoch. */
  readonly since: number
  readonly by?: Pick<CallContext, 'caller' | 'trace'>
}

/** Stores the changes of a mount in its fork. */
export async function storeMountChanges(
  workspace: LinkedWorkspace,
  { changes: all, since, by = {} }: FoundChanges,
): Promise<ForkMountChanges> {
  const changes = filterKept(all, workspace)
  const collected = { changes, since: BigInt(since) * NANOS_PER_MS, by, isCheckpointWanted: false }
  await using own = await workspace.collect(collected)
  return { changed: toChangedFiles(own.changes), leftOut: listLeftOut(all, changes) }
}
