import type { CallContext } from '../../vfs/index.ts'
import type { MaskContent } from '../link/index.ts'
import type { ChangedFiles } from '../policy/index.ts'
import type { SessionChange } from '../session/index.ts'
import { toChangedFiles } from './changed-files.ts'
import { filterKept, listLeftOut } from './kept-changes.ts'
import type { LinkedWorkspace } from './linked-workspace.ts'

const NANOS_PER_MS = 1_000_000n

/** Changes that programs made in an overlay of a fork, and paths that a fork cannot keep. */
export interface ForkMountChanges {
  readonly changed: ChangedFiles
  readonly leftOut: readonly string[]
  /** Checkpoint of the fork with changes of others that these replaced. */
  readonly checkpoint?: string | undefined
}

/** Changes that were found in an overlay. */
interface FoundChanges {
  readonly changes: readonly SessionChange[]
  /** Moment up to which the fork knows the directory, in milliseconds since the epoch. */
  readonly since: number
  readonly by?: Pick<CallContext, 'caller' | 'trace'>
  /** Masks files of the directory as the overlay has them. */
  readonly mask?: MaskContent | undefined
  /** True if the overlay stays mounted. */
  readonly continues?: boolean
  /** Called once the changes are stored, with the fork that has them; undefined if there is none. */
  readonly onStored?: (fork: string | undefined) => void
}

/** Stores the changes of a mount, or of a session that was killed, in its fork. */
export async function storeMountChanges(
  workspace: LinkedWorkspace,
  { changes: all, since, by = {}, mask, continues = false, onStored }: FoundChanges,
): Promise<ForkMountChanges> {
  const changes = filterKept(all, workspace)
  await using stored = await workspace.collect({
    changes,
    since: BigInt(since) * NANOS_PER_MS,
    by,
    mask,
    continues,
    onStored,
    isCheckpointWanted: false,
  })
  return {
    changed: toChangedFiles(stored.changes),
    leftOut: listLeftOut(all, changes),
    checkpoint: stored.overwritten?.checkpoint,
  }
}
