import { basename } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { findStoppedProcess } from '../../machine/index.ts'
import { ForkMountFiles, type ForkMountRecord } from './fork-mount-files.ts'

const POLL_MS = 20
/** Time in which a mounting process takes a request: it looks ten times a second. */
const MAX_PENDING_MS = 5000
/** Time for the changes of one mount. */
const MAX_STORE_MS = 120_000

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
    const reason = explainStopped(files) ?? (await waitForStore(files))
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
    const { directory } = files
    const record = directory.isAbandoned ? undefined : directory.readRecord<ForkMountRecord>()
    return record === undefined || record === 'damaged' ? [] : [{ files, record }]
  })
}

/** Waits for the end of a request; returns the reason if it failed. */
async function waitForStore(files: ForkMountFiles): Promise<string | undefined> {
  const check = files.request()
  const started = performance.now()
  for (let state = check(); state !== 'done'; state = check()) {
    if (typeof state === 'object') return state.reason
    const stopped = explainStopped(files)
    if (stopped !== undefined) return stopped
    const limit = state === 'pending' ? MAX_PENDING_MS : MAX_STORE_MS
    if (performance.now() - started > limit) return 'the process that mounted it does not answer'
    await setTimeout(POLL_MS)
  }
  return undefined
}

/** Returns the reason why a mounting process cannot answer now; undefined if it runs. */
function explainStopped({ path }: ForkMountFiles): string | undefined {
  const pid = findStoppedProcess(basename(path))
  return pid === undefined
    ? undefined
    : `the process that mounted it is stopped; continue it with: kill -CONT ${pid}`
}
