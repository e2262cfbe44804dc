import type { RequestExtra } from './mcp-feature.ts'
import { Throttle } from './throttle.ts'

const INTERVAL_MS = 25

export interface ProgressReporter {
  readonly report: (done: number, total?: number, message?: string) => void
  /** Reports what is still to be reported: after the answer it is too late. */
  readonly finish: () => void
}

/** Tells a client how far its request is, if it asked to be told: never backwards, and no faster than it can be read. */
export function createProgressReporter({ _meta, sendNotification }: RequestExtra): ProgressReporter {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return { report() {}, finish() {} }
  let latest = { progress: -1 }
  const pace = new Throttle(INTERVAL_MS, () => {
    const params = { progressToken, ...latest }
    // A client that has gone needs no progress: its request is cancelled with the session.
    return sendNotification({ method: 'notifications/progress', params }).catch(() => {})
  })
  return {
    report(done, total, message) {
      if (done <= latest.progress) return
      latest = {
        progress: done,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      }
      pace.request()
    },
    finish: () => pace.flush(),
  }
}
