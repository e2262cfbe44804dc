import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { listDirectoryIfPresent } from '../../machine/index.ts'
import { type CallContext, isVfsError } from '../../vfs/index.ts'
import { LinkedDirectory, type LinkedFork, type LinkHome } from '../link/index.ts'
import type { ChangedFiles } from '../policy/index.ts'
import {
  detachOverlay,
  MountedOverlay,
  readLeftOverlay,
  removeTree,
  type SessionChange,
} from '../session/index.ts'
import { toChangedFiles } from './changed-files.ts'
import {
  ForkMountFiles,
  type ForkMountRecord,
  type RequestState,
  type StoreRequest,
} from './fork-mount-files.ts'
import { filterKept, listLeftOut } from './kept-changes.ts'
import { LinkedWorkspace } from './linked-workspace.ts'

const NANOS_PER_MS = 1_000_000n
const POLL_MS = 20
const MAX_ATTEMPTS = 20
/** Time in which a mounting process takes a request: it looks ten times a second. */
const MAX_PENDING_MS = 5000
/** Time for the changes of one mount. */
const MAX_STORE_MS = 120_000

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
  await using baseline = await workspace.baseline()
  const files = ForkMountFiles.create(mounts)
  const started = Date.now()
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
    wasEmpty: isEmpty(link.path),
    ...(isOnMachine && { mountpoint: options.mountpoint, device }),
  }
  const stored = new StoredMoment(started, (since) => files.writeRecord({ ...record, since }))
  const store = () =>
    stored.advance((since) =>
      overlay.withChanges((changes) => storeChanges(workspace, { changes, since, by })),
    )
  try {
    await use({ overlay, answerRequests: () => answer(files.takeRequests(), store) })
  } finally {
    await overlay.unmount()
  }
  const changes = await store()
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

function isEmpty(directory: string): boolean {
  return listDirectoryIfPresent(directory).length === 0
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
  for (const { files, record } of listMounted(mounts)) {
    if (!directories.includes(record.directory)) continue
    const reason = await waitForStore(files.request())
    if (reason !== undefined) failures.push({ fork: record.fork, reason })
  }
  return failures
}

/** Lists the names of forks of a directory that are mounted now. */
export function listMountedForks(mounts: string, directory: string): string[] {
  const mounted = listMounted(mounts).filter(({ record }) => record.directory === directory)
  return mounted.map(({ record }) => record.fork)
}

function listMounted(mounts: string): { readonly files: ForkMountFiles; readonly record: ForkMountRecord }[] {
  return ForkMountFiles.list(mounts).flatMap((files) => {
    const record = files.isAbandoned ? undefined : files.readRecord()
    return record === undefined || record === 'damaged' ? [] : [{ files, record }]
  })
}

/** Waits for the end of a request; returns the reason if it failed. */
async function waitForStore(check: () => RequestState): Promise<string | undefined> {
  const started = performance.now()
  for (let state = check(); state !== 'done'; state = check()) {
    if (typeof state === 'object') return state.reason
    const limit = state === 'pending' ? MAX_PENDING_MS : MAX_STORE_MS
    if (performance.now() - started > limit) return 'the process that mounted it does not answer'
    await setTimeout(POLL_MS)
  }
  return undefined
}

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
  if (record === 'damaged') {
    files.giveBack(abandoned)
    return { fork: 'a fork', changes: 0, problem: `${abandoned.path} has no readable record` }
  }
  if (record !== undefined) {
    if (record.mountpoint !== undefined) detachOverlay(record.mountpoint, record.device)
    const hasFork = (await home.vaults()).includes(record.fork)
    if (hasFork && !isThere(record)) {
      files.giveBack(abandoned)
      return undefined
    }
    try {
      const changes = hasFork ? await storeLeftChanges(home, files, record) : 0
      await removeTree(files.path)
      return { fork: record.fork, changes }
    } catch (error) {
      files.giveBack(abandoned)
      return {
        fork: record.fork,
        changes: 0,
        problem: error instanceof Error ? error.message : String(error),
      }
    }
  }
  await removeTree(files.path)
  return undefined
}

/** False if the directory of a fork is missing, such as one on a disk that is not mounted yet. */
function isThere({ directory, wasEmpty }: ForkMountRecord): boolean {
  return existsSync(directory) && (wasEmpty || !isEmpty(directory))
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
    storeChanges(workspace, { changes, since: record.since }),
  )
  return changed.added.length + changed.modified.length + changed.deleted.length
}

function isMissing(error: unknown): boolean {
  return isVfsError(error, 'ENOENT') || (error instanceof Error && 'code' in error && error.code === 'ENOENT')
}
