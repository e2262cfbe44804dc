import type { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { McpSession } from './mcp-session.ts'
import { StdioTransport } from './stdio-transport.ts'

/** How long a call may go on when its client has closed its side. */
const DRAIN_TIMEOUT_MS = 5000

export interface Stdio {
  readonly in: Readable
  /** Carries nothing but the protocol. */
  readonly out: Writable
  /** Ends the session. */
  readonly signal: AbortSignal
}

/** Serves one client over a pair of streams, until its side ends, it takes no more answers, or the signal says stop. */
export async function serveStdio(session: McpSession, { in: input, out, signal }: Stdio): Promise<void> {
  const stop = AbortSignal.any([signal, session.signal])
  const ended = finished(input, { signal: stop, writable: false }).catch(() => {})
  const transport = new StdioTransport(input, out)
  await session.connect(transport)
  await ended
  // Who pipes a few requests in and closes wants the answers; who is gone does not mind.
  if (!stop.aborted) await transport.waitForAnswers(DRAIN_TIMEOUT_MS, stop)
  await session.close()
}
