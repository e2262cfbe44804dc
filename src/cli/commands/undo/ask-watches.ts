import { DaemonClient } from '../../../daemon/client/index.ts'
import type { WatchAnswer, WatchQuestion } from '../../../timeline/events/index.ts'

/** A hook that waits longer compares the directory itself. */
const TIMEOUT_MS = 100

/** Asks the daemon at a socket about a directory; undefined if it does not answer in time, or was killed. */
export async function askWatches(socket: string, question: WatchQuestion): Promise<WatchAnswer | undefined> {
  try {
    await using daemon = await DaemonClient.connect(socket)
    return await daemon.call('watch', question, AbortSignal.timeout(TIMEOUT_MS))
  } catch {
    // Also a daemon of another version.
    return undefined
  }
}
