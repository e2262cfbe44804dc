import type { ExitStatus } from './exit-status.ts'
import type { Process } from './process.ts'

/** Formats the result of a child for the model of its parent. */
export function formatChildResult(
  { pid, result }: Pick<Process, 'pid' | 'result'>,
  { code, reason }: ExitStatus,
): string {
  return code === 0
    ? `Process ${pid} is done. Its files are its own: merge takes its changes into yours.\n\n${result}`
    : `Process ${pid} ended with exit code ${code}: ${reason}`
}

/** Rejects as soon as the signal aborts; the work itself continues. */
export async function raceWithAbort<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const stop = () => reject(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  try {
    return await Promise.race([work, stopped])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
