import type { RequestExtra } from './mcp-feature.ts'
import { Throttle } from './throttle.ts'

const INTERVAL_MS = 25

export interface ProgressReporter {
  readonly report: (done: number, total?: number, message?: string) => void
  /** Sends pending progress, before the response. */
  readonly finish: () => void
}

/** Reports progress to a client that requested it: never backwards, and throttled. */
export function createProgressReporter({ mcpReq }: RequestExtra): ProgressReporter {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return { report() {}, finish() {} }
  let latest = { progress: -1 }
  const throttle = new Throttle(INTERVAL_MS, () => {
    const params = { progressToken, ...latest }
    // A disconnected client needs no progress: its request is cancelled with the session.
    return mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
  })
  return {
    report(done, total, message) {
      if (done <= latest.progress) return
      latest = {
        progress: done,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      }
      throttle.request()
    },
    finish: () => throttle.flush(),
  }
}
