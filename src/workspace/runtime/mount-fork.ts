import { setTimeout } from 'node:timers/promises'
import { type CallContext, isVfsError } from '../../vfs/index.ts'
import { LinkedDirectory, type LinkedFork, type LinkHome } from '../link/index.ts'
import type { ChangedFiles } from '../policy/index.ts'
import { MountedOverlay, readLeftOverlay, removeTree, type SessionChange } from '../session/index.ts'
import { toChangedFiles } from './changed-files.ts'
import { ForkMountFiles, type StoreRequest } from './fork-mount-files.ts'
import { filterKept, listLeftOut } from './kept-changes.ts'
import { LinkedWorkspace } from './linked-workspace.ts'

const NANOS_PER_MS = 1_000_000n
const POLL_MS = 20
const MAX_ATTEMPTS = 20

/** A fork of a directory, and where it is mounted. */
export interface ForkMountOptions {
  readonly link: LinkedDirectory
  readonly fork: LinkedFork
  /** Directory for the files of mounted forks. */
  readonly mounts: string
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

/** A fork while it is mounted. */
export interface MountedFork {
  readonly overlay: MountedOverlay
  /** Stores the changes so far in the fork if another process asks for it, and answers. */
  answerRequests(): Promise<void>
}

/**
 * Mounts a fork of a directory while `use` runs, then unmounts it and stores the changes in the fork. The directory
 * stays unchanged. If this process is killed, or the changes cannot be stored, `recoverMountedForks` stores them later.
 * Throws ENOTSUP if this host cannot mount an overlay.
 */
export async function mountFork(
  { link, fork, mounts, by = {}, ...options }: ForkMountOptions,
  use: (mounted: MountedFork) => Promise<void>,
): Promise<ForkMountChanges> {
  const workspace = new LinkedWorkspace(link, { fork, name: fork.name })
  const since = Date.now()
  await using baseline = await workspace.baseline()
  const files = ForkMountFiles.create(mounts)
  const overlay = await MountedOverlay.open(baseline.session, { ...options, directory: files.path }).catch(
    async (error: unknown) => {
      await removeTree(files.path)
      throw error
    },
  )
  const store = () => overlay.withChanges((changes) => storeChanges(workspace, { changes, since, by }))
  try {
    files.writeRecord({ fork: fork.name, directory: link.path, since, privilege: overlay.privilege })
    await use({ overlay, answerRequests: () => answer(files.listRequests(), store) })
  } finally {
    await overlay.unmount()
  }
  const changes = await store()
  await removeTree(files.path)
  return changes
}

async function answer(requests: readonly StoreRequest[], store: () => Promise<unknown>): Promise<void> {
  if (requests.length === 0) return
  try {
    await storeQuietMoment(store)
    for (const request of requests) request.finish()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    for (const request of requests) request.fail(reason)
  }
}

/** Tries again if a program removes files while they are read. */
async function storeQuietMoment(store: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await store()
      return
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isMissing(error)) throw error
    }
  }
}

async function storeChanges(
  workspace: LinkedWorkspace,
  found: Pick<ForkMountOptions, 'by'> & {
    readonly changes: readonly SessionChange[]
    readonly since: number
  },
): Promise<ForkMountChanges> {
  const changes = filterKept(found.changes, workspace)
  const since = BigInt(found.since) * NANOS_PER_MS
  await using own = await workspace.collect({
    changes,
    since,
    by: found.by ?? {},
    isCheckpointWanted: false,
  })
  return { changed: toChangedFiles(own.changes), leftOut: listLeftOut(found.changes, changes) }
}

/** A mounted fork whose changes could not be stored. */
export interface UpdateFailure {
  readonly fork: string
  readonly reason: string
}

/** Stores the changes so far of forks of these directories that are mounted now, so that the forks have them. */
export async function updateMountedForks(
  mounts: string,
  directories: readonly string[],
): Promise<UpdateFailure[]> {
  const failures: UpdateFailure[] = []
  for (const files of ForkMountFiles.list(mounts)) {
    const record = files.isAbandoned ? undefined : files.readRecord()
    if (record === undefined || !directories.includes(record.directory)) continue
    const check = files.request()
    let outcome = check()
    for (; outcome === false; outcome = check()) await setTimeout(POLL_MS)
    if (outcome !== true) failures.push({ fork: record.fork, reason: outcome })
  }
  return failures
}

/** Stores the changes of mounted forks whose process was killed. Returns the names of the forks. */
export async function recoverMountedForks(home: LinkHome, mounts: string): Promise<string[]> {
  const recovered: string[] = []
  for (const abandoned of ForkMountFiles.list(mounts).filter(({ isAbandoned }) => isAbandoned)) {
    const files = abandoned.adopt()
    const fork = files && (await recoverMountedFork(home, files))
    if (fork !== undefined) recovered.push(fork)
  }
  return recovered
}

async function recoverMountedFork(home: LinkHome, files: ForkMountFiles): Promise<string | undefined> {
  const record = files.readRecord()
  if (record !== undefined) {
    try {
      const link = new LinkedDirectory(home, record.directory)
      const fork = await link.getFork(record.fork)
      const workspace = new LinkedWorkspace(link, { fork, name: fork.name })
      await using _baseline = await workspace.baseline()
      await readLeftOverlay({ ...record, path: files.path }, (changes) =>
        storeChanges(workspace, { changes, since: record.since }),
      )
    } catch (error) {
      // The directory or the fork was deleted, and its changes with it.
      if (!isMissing(error)) throw error
    }
  }
  await removeTree(files.path)
  return record?.fork
}

function isMissing(error: unknown): boolean {
  return isVfsError(error, 'ENOENT') || (error instanceof Error && 'code' in error && error.code === 'ENOENT')
}
