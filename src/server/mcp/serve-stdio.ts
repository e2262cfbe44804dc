import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { VfsError } from '../../vfs/index.ts'
import { AnsweringStdio } from './answering-stdio.ts'
import type { McpSession } from './session.ts'

/** How long a call may go on when its client has closed its side. */
const PATIENCE_MS = 5000

export interface Stdio {
  readonly in: Readable
  /** Carries nothing but the protocol. */
  readonly out: Writable
  /** Ends the session. */
  readonly signal: AbortSignal
}

/**
 * Serves one client over a pair of streams, until its side ends or the signal says stop. EINVAL if it sends what is
 * too large to be read.
 */
export async function serveStdio(session: McpSession, { in: input, out, signal }: Stdio): Promise<void> {
  const stop = AbortSignal.any([signal, session.signal])
  const ended = once(input, 'end', { signal: stop }).catch(() => {})
  const transport = new AnsweringStdio(input, out)
  await session.connect(transport)
  await ended
  // Who pipes a few requests in and closes wants the answers; who is gone does not mind.
  if (!stop.aborted) await transport.answered(PATIENCE_MS, stop)
  const isBroken = session.signal.aborted && !signal.aborted
  await session.close()
  if (isBroken && transport.failure !== undefined) {
    const detail = `the client sent what cannot be read: ${transport.failure.message}`
    throw new VfsError('EINVAL', '/', { op: 'mcp', detail, cause: transport.failure })
  }
}
