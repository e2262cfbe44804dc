import { hasEntries } from '../../machine/index.ts'
import { type CallContext, isVfsError } from '../../vfs/index.ts'
import type { LinkedDirectory, LinkedFork } from '../link/index.ts'
import { MountedOverlay, removeTree } from '../session/index.ts'
import { ForkMountFiles, type StoreRequest } from './fork-mount-files.ts'
import { LinkedWorkspace } from './linked-workspace.ts'
import { type ForkMountChanges, storeMountChanges } from './store-mount-changes.ts'

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
  const started = Date.now()
  await using baseline = await workspace.baseline()
  const files = ForkMountFiles.create(mounts)
  const overlay = await MountedOverlay.open(baseline.session, { ...options, directory: files.path }).catch(
    async (error: unknown) => {
      await removeTree(files.path)
      throw error
    },
  )
  const { privilege, device, isOnMachine } = overlay
  const record = {
    fork: fork.name,
    directory: link.path,
    privilege,
    wasEmpty: !hasEntries(link.path),
    ...(isOnMachine && { mountpoint: options.mountpoint, device }),
  }
  const stored = new StoredMoment(started, (since) => {
    const { point, paths } = workspace.describeStart()
    files.writeRecord({ ...record, since, point, paths })
  })
  const store = (continues: boolean) =>
    stored.advance((since) =>
      overlay.withChanges((changes) => storeMountChanges(workspace, { changes, since, by, continues })),
    )
  try {
    await use({ overlay, answerRequests: () => answer(files.takeRequests(), () => store(true)) })
  } finally {
    await overlay.unmount()
  }
  const changes = await store(false)
  // Its files are removed one by one; with a record, what is left of them would count as all changes.
  files.directory.removeRecord()
  await removeTree(files.path)
  return changes
}

/**
 * The moment up to which changes of the directory are known to the fork: the start of the mount, then of each store. What
 * changed in the directory later, at a path that the mount changed too, may be a conflict.
 */
class StoredMoment {
  #since: number
  readonly #record: (since: number) => void

  constructor(since: number, record: (since: number) => void) {
    this.#since = since
    this.#record = record
    record(since)
  }

  async advance<Result>(store: (since: number) => Promise<Result>): Promise<Result> {
    const next = Date.now()
    const result = await store(this.#since)
    this.#since = next
    this.#record(next)
    return result
  }
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

function isMissing(error: unknown): boolean {
  return isVfsError(error, 'ENOENT') || (error instanceof Error && 'code' in error && error.code === 'ENOENT')
}
