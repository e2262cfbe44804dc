import { VfsError } from '../../../vfs/index.ts'

/** Time limit and signals of a request. */
export interface DeadlineOptions {
  readonly path: string
  readonly timeoutMs: number
  readonly signals: readonly (AbortSignal | undefined)[]
}

/**
 * Runs a function with a signal that aborts at the deadline or with one of the given signals.
 * ETIMEDOUT after the deadline; the reason of the signal after an abort.
 */
export async function withDeadline<Result>(
  { path, timeoutMs, signals }: DeadlineOptions,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(createTimeoutError(path, timeoutMs)), timeoutMs)
  const signal = AbortSignal.any([deadline.signal, ...signals.filter((given) => given !== undefined)])
  try {
    signal.throwIfAborted()
    return await work(signal)
  } catch (error) {
    // Any failure after the abort was caused by it.
    throw signal.aborted ? signal.reason : error
  } finally {
    clearTimeout(timer)
  }
}

function createTimeoutError(path: string, timeoutMs: number): VfsError {
  const detail = `the model did not answer within ${timeoutMs} ms; raise timeout_seconds in [processes] of config.toml, or timeout_ms of the request, or ask for less`
  return new VfsError('ETIMEDOUT', path, { op: 'write', detail })
}
