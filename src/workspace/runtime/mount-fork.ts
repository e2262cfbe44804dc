import type { CallContext } from '../../vfs/index.ts'
import type { LinkedDirectory, LinkedFork } from '../link/index.ts'
import type { ChangedFiles } from '../policy/index.ts'
import { MountedOverlay } from '../session/index.ts'
import { toChangedFiles } from './changed-files.ts'
import { filterKept, listLeftOut } from './kept-changes.ts'
import { LinkedWorkspace } from './linked-workspace.ts'

/** A fork of a directory, and where it is mounted. */
export interface ForkMountOptions {
  readonly link: LinkedDirectory
  readonly fork: LinkedFork
  /** Directory for the files of open sessions. */
  readonly sessions: string
  readonly mountpoint: string
  /** Source that `mount` and `df` show. */
  readonly source: string
  readonly isReadOnly?: boolean
  readonly by?: Pick<CallContext, 'caller' | 'trace'>
}

/** Changes that programs made through a mount of a fork, and paths that a fork cannot keep. */
export interface ForkMountChanges {
  readonly changed: ChangedFiles
  readonly leftOut: readonly string[]
}

/**
 * Mounts a fork of a directory while `use` runs, then unmounts it and stores the changes in the fork. The directory
 * stays unchanged. Throws ENOTSUP if this host cannot mount an overlay.
 */
export async function mountFork(
  { link, fork, by = {}, ...options }: ForkMountOptions,
  use: (mounted: MountedOverlay) => Promise<void>,
): Promise<ForkMountChanges> {
  const workspace = new LinkedWorkspace(link, { fork, name: fork.name })
  const since = BigInt(Date.now()) * 1_000_000n
  await using baseline = await workspace.baseline()
  await using mounted = await MountedOverlay.open(baseline.session, options)
  await use(mounted)
  const all = await mounted.changes()
  const changes = filterKept(all, workspace)
  await using own = await workspace.collect({ changes, since, by, isCheckpointWanted: false })
  return { changed: toChangedFiles(own.changes), leftOut: listLeftOut(all, changes) }
}
