import { existsSync } from 'node:fs'
import { listDirectoryIfPresent } from '../../machine/index.ts'
import { LinkedDirectory, type LinkHome } from '../link/index.ts'
import { detachOverlay, readLeftOverlay, removeTree } from '../session/index.ts'
import { ForkMountFiles, type ForkMountRecord } from './fork-mount-files.ts'
import { LinkedWorkspace } from './linked-workspace.ts'
import { storeMountChanges } from './store-mount-changes.ts'

/** A mount whose process was killed: its changes are stored now, or stay where they are for the given reason. */
export interface RecoveredMount {
  readonly fork: string
  readonly changes: number
  readonly problem?: string
}

/**
 * Stores the changes of mounted forks whose process was killed. Where the directory of a fork is not there, they wait
 * until it is.
 */
export async function recoverMountedForks(home: LinkHome, mounts: string): Promise<RecoveredMount[]> {
  const recovered: RecoveredMount[] = []
  for (const abandoned of ForkMountFiles.list(mounts).filter(({ isAbandoned }) => isAbandoned)) {
    const files = abandoned.adopt()
    const outcome = files && (await recoverMountedFork(home, files, abandoned))
    if (outcome !== undefined) recovered.push(outcome)
  }
  return recovered
}

async function recoverMountedFork(
  home: LinkHome,
  files: ForkMountFiles,
  abandoned: ForkMountFiles,
): Promise<RecoveredMount | undefined> {
  const record = files.readRecord()
  if (record === undefined) {
    await removeTree(files.path)
    return undefined
  }
  try {
    if (record === 'damaged') throw new Error(`${abandoned.path} has no readable record`)
    detachMount(files, record)
    const hasFork = (await home.vaults()).includes(record.fork)
    if (hasFork && !isThere(record)) {
      files.giveBack(abandoned)
      return undefined
    }
    const changes = hasFork ? await storeLeftChanges(home, files, record) : 0
    await removeTree(files.path)
    return { fork: record.fork, changes }
  } catch (error) {
    files.giveBack(abandoned)
    const problem = error instanceof Error ? error.message : String(error)
    return { fork: record === 'damaged' ? 'a fork' : record.fork, changes: 0, problem }
  }
}

/** Ends a mount that outlived its process. Only once: later another mount may be at the same place. */
function detachMount(files: ForkMountFiles, { mountpoint, device, ...record }: ForkMountRecord): void {
  if (mountpoint === undefined) return
  detachOverlay(mountpoint, device)
  files.writeRecord(record)
}

/** False if the directory of a fork is missing, such as one on a disk that is not mounted yet. */
function isThere({ directory, wasEmpty }: ForkMountRecord): boolean {
  return existsSync(directory) && (wasEmpty || listDirectoryIfPresent(directory).length > 0)
}

async function storeLeftChanges(
  home: LinkHome,
  files: ForkMountFiles,
  record: ForkMountRecord,
): Promise<number> {
  const link = new LinkedDirectory(home, record.directory)
  const fork = await link.getFork(record.fork)
  const workspace = new LinkedWorkspace(link, { fork, name: fork.name })
  await using _baseline = await workspace.baseline()
  const { changed } = await readLeftOverlay({ ...record, path: files.path }, (changes) =>
    storeMountChanges(workspace, { changes, since: record.since }),
  )
  return changed.added.length + changed.modified.length + changed.deleted.length
}
