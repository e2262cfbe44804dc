import type { TaggedDirectory } from '../../machine/index.ts'
import { LinkedDirectory, type LinkHome } from '../link/index.ts'
import { detachOverlay, readLeftOverlay } from '../session/index.ts'
import { countChangedFiles } from './changed-files.ts'
import type { ForkMountRecord } from './fork-mount-files.ts'
import { LinkedWorkspace } from './linked-workspace.ts'
import { isThere, type RecoveredFork, recoverLeftForks } from './recover-left-forks.ts'
import { storeMountChanges } from './store-mount-changes.ts'

/** Stores the changes of mounted forks whose process was killed. */
export function recoverMountedForks(home: LinkHome, mounts: string): Promise<RecoveredFork[]> {
  return recoverLeftForks<ForkMountRecord>(mounts, async (files, record) => {
    detachMount(files, record)
    const { fork } = record
    if (!(await home.vaults()).includes(fork)) return { fork, changes: 0 }
    return isThere(record) ? storeLeftChanges(home, files, record) : 'later'
  })
}

/** Ends a mount that outlived its process. Only once: later another mount may be at the same place. */
function detachMount(files: TaggedDirectory, { mountpoint, device, ...record }: ForkMountRecord): void {
  if (mountpoint === undefined) return
  detachOverlay(mountpoint, device)
  files.writeRecord(record, { isSynced: true })
}

async function storeLeftChanges(
  home: LinkHome,
  files: TaggedDirectory,
  record: ForkMountRecord,
): Promise<RecoveredFork> {
  const link = new LinkedDirectory(home, record.directory)
  const fork = await link.getFork(record.fork)
  const workspace = new LinkedWorkspace(link, { fork, name: fork.name })
  const baseline = await workspace.resume({ point: record.point, paths: record.paths ?? [] })
  const { changed, leftOut, checkpoint } = await readLeftOverlay({ ...record, path: files.path }, (changes) =>
    storeMountChanges(workspace, { changes, since: record.since }),
  )
  // After a failure, the next attempt needs the start of the mount again.
  await baseline[Symbol.asyncDispose]()
  return { fork: fork.name, changes: countChangedFiles(changed), leftOut, checkpoint }
}
