import { writeSync } from 'node:fs'
import { isMainThread, workerData } from 'node:worker_threads'
import { wakeUp } from './protocol/index.ts'

/** How long others may have to wait to see a change that no other follows. */
const QUIET_MS = 5

/** What the thread that looks for quiet is given. */
export interface QuietWork {
  /** `/dev/fuse`, open and mounted. */
  readonly fd: number
  /** How many changes wait in the server; it wakes us when there are any. */
  readonly waiting: Int32Array
}

if (!isMainThread) watch(workerData)

function watch({ fd, waiting }: QuietWork): void {
  for (;;) {
    Atomics.wait(waiting, 0, 0)
    const before = Atomics.load(waiting, 0)
    // Nobody wakes it: it is for the time.
    Atomics.wait(waiting, 0, before, QUIET_MS)
    if (before > 0 && Atomics.load(waiting, 0) === before) settle(fd)
  }
}

/** The server hears of nothing but requests: this brings about one that commits everything. */
function settle(fd: number): void {
  try {
    writeSync(fd, wakeUp())
  } catch {
    // The mount is gone, and with it what waited.
  }
}
