import { lstatSync, statfsSync, writeSync } from 'node:fs'
import { isMainThread, workerData } from 'node:worker_threads'
import { wakeUp } from './protocol/index.ts'
import { WAKE_NODE } from './wake-file.ts'

/** How long others may have to wait to see a change that no other follows. */
const QUIET_MS = 5

/** What the thread that looks for quiet is given. */
export interface QuietWork {
  /** `/dev/fuse`, open and mounted. */
  readonly fd: number
  /** Another number after each change that waits in the server, 0 if none does; it wakes us when there are any. */
  readonly waiting: Int32Array
  readonly directory: string
  /** The file the kernel is woken with. */
  readonly wakeFile: string
}

type Mounted = Omit<QuietWork, 'waiting'>

if (!isMainThread) watch(workerData)

function watch({ waiting, ...mount }: QuietWork): void {
  ask(mount)
  for (;;) {
    Atomics.wait(waiting, 0, 0)
    const before = Atomics.load(waiting, 0)
    // Nobody wakes it: it is for the time.
    Atomics.wait(waiting, 0, before, QUIET_MS)
    if (before !== 0 && Atomics.load(waiting, 0) === before) settle(mount)
  }
}

/** The server hears of nothing but requests: this brings about one that commits everything. */
function settle(mount: Mounted): void {
  try {
    writeSync(mount.fd, wakeUp(WAKE_NODE))
  } catch {
    // The kernel has forgotten the file, for want of memory, or the mount is gone, and with it what waited.
    ask(mount)
  }
}

/**
 * Has the kernel ask for the file it is woken with: that settles too, but this thread waits for the answer. A user who may
 * not look up names there asks how much room there is.
 */
function ask({ wakeFile, directory }: Mounted): void {
  for (const look of [() => lstatSync(wakeFile), () => statfsSync(directory)]) {
    try {
      look()
      return
    } catch {
      // If there is no other way, the mount is gone.
    }
  }
}
