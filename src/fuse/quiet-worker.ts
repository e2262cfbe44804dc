import { lstatSync, statfsSync, writeSync } from 'node:fs'
import { isMainThread, workerData } from 'node:worker_threads'
import { encodeRetrieve } from './protocol/index.ts'
import { WAKE_NODE } from './wake-file.ts'

/** Idle time in milliseconds after which changes are committed. */
const IDLE_MS = 5

/** Input of the thread that detects idle time. */
export interface IdleWorkerData {
  /** `/dev/fuse`, open and mounted. */
  readonly fd: number
  /** Changes with each uncommitted change, 0 if there is none; notified when it becomes nonzero. */
  readonly waiting: Int32Array
  readonly directory: string
  /** Path of the wake file. */
  readonly wakeFile: string
}

type IdleMount = Omit<IdleWorkerData, 'waiting'>

if (!isMainThread) watchForIdle(workerData)

function watchForIdle({ waiting, ...mount }: IdleWorkerData): void {
  lookupWakeFile(mount)
  for (;;) {
    Atomics.wait(waiting, 0, 0)
    const before = Atomics.load(waiting, 0)
    // Used as a timer. A notification here means another change, so the comparison below fails.
    Atomics.wait(waiting, 0, before, IDLE_MS)
    if (before !== 0 && Atomics.load(waiting, 0) === before) requestCommit(mount)
  }
}

/** Triggers a request that commits everything, because the server reacts to requests only. */
function requestCommit(mount: IdleMount): void {
  try {
    writeSync(mount.fd, encodeRetrieve(WAKE_NODE))
  } catch {
    // The kernel has evicted the file, or the mount has ended.
    lookupWakeFile(mount)
  }
}

/**
 * Makes the kernel look up the wake file, which commits too; but this thread waits for the reply.
 * If the user may not look up names there, it queries the free space.
 */
function lookupWakeFile({ wakeFile, directory }: IdleMount): void {
  for (const look of [() => lstatSync(wakeFile), () => statfsSync(directory)]) {
    try {
      look()
      return
    } catch {
      // If both fail, the mount has ended.
    }
  }
}
