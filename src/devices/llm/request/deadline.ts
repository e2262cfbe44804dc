import { VfsError } from '../../../vfs/index.ts'

/** How long something may take, and who else may end it. */
export interface DeadlineOptions {
  readonly path: string
  readonly timeoutMs: number
  readonly signals: readonly (AbortSignal | undefined)[]
}

/**
 * Does something under a signal that is aborted when the time is over or when one of the signals is.
 * ETIMEDOUT for the former; for the latter, what that signal was aborted with.
 */
export async function withDeadline<Result>(
  { path, timeoutMs, signals }: DeadlineOptions,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(createTimeoutError(path, timeoutMs)), timeoutMs)
  const signal = AbortSignal.any([late.signal, ...signals.filter((given) => given !== undefined)])
  try {
    signal.throwIfAborted()
    return await work(signal)
  } catch (error) {
    // Whatever broke because it was ended broke for that reason.
    throw signal.aborted ? signal.reason : error
  } finally {
    clearTimeout(timer)
  }
}

function createTimeoutError(path: string, timeoutMs: number): VfsError {
  const detail = `the model did not answer within ${timeoutMs} ms; give it more with 'timeout_ms', or ask for less`
  return new VfsError('ETIMEDOUT', path, { op: 'write', detail })
}
