import { lstatSync, statfsSync, writeSync } from 'node:fs'
import { isMainThread, workerData } from 'node:worker_threads'
import { encodeRetrieve } from './protocol/index.ts'
import { WAKE_NODE } from './wake-file.ts'

/** How long others may have to wait to see a change that no other follows. */
const IDLE_MS = 5

/** What the thread that looks for quiet is given. */
export interface IdleWorkerData {
  /** `/dev/fuse`, open and mounted. */
  readonly fd: number
  /** Another number after each change that waits in the server, 0 if none does; it wakes us when there are any. */
  readonly waiting: Int32Array
  readonly directory: string
  /** The file the kernel is woken with. */
  readonly wakeFile: string
}

type IdleMount = Omit<IdleWorkerData, 'waiting'>

if (!isMainThread) watchForIdle(workerData)

function watchForIdle({ waiting, ...mount }: IdleWorkerData): void {
  lookupWakeFile(mount)
  for (;;) {
    Atomics.wait(waiting, 0, 0)
    const before = Atomics.load(waiting, 0)
    // Nobody wakes it: it is for the time.
    Atomics.wait(waiting, 0, before, IDLE_MS)
    if (before !== 0 && Atomics.load(waiting, 0) === before) requestCommit(mount)
  }
}

/** The server hears of nothing but requests: this brings about one that commits everything. */
function requestCommit(mount: IdleMount): void {
  try {
    writeSync(mount.fd, encodeRetrieve(WAKE_NODE))
  } catch {
    // The kernel has forgotten the file, for want of memory, or the mount is gone, and with it what waited.
    lookupWakeFile(mount)
  }
}

/**
 * Has the kernel ask for the file it is woken with: that settles too, but this thread waits for the answer. A user who may
 * not look up names there asks how much room there is.
 */
function lookupWakeFile({ wakeFile, directory }: IdleMount): void {
  for (const look of [() => lstatSync(wakeFile), () => statfsSync(directory)]) {
    try {
      look()
      return
    } catch {
      // If there is no other way, the mount is gone.
    }
  }
}
