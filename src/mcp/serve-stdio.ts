import type { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { McpSession } from './mcp-session.ts'
import { StdioTransport } from './stdio-transport.ts'

/** Time a call may continue after its client closed the input. */
const DRAIN_TIMEOUT_MS = 5000

export interface Stdio {
  readonly in: Readable
  /** Carries only the protocol. */
  readonly out: Writable
  /** Ends the session. */
  readonly signal: AbortSignal
}

/** Serves one client over a pair of streams, until its side ends, it stops reading, or the signal aborts. */
export async function serveStdio(session: McpSession, { in: input, out, signal }: Stdio): Promise<void> {
  const stop = AbortSignal.any([signal, session.signal])
  const ended = finished(input, { signal: stop, writable: false }).catch(() => {})
  const transport = new StdioTransport(input, out)
  await session.connect(transport)
  await ended
  // A client that pipes in requests and closes still wants the responses.
  if (!stop.aborted) await transport.waitForAnswers(DRAIN_TIMEOUT_MS, stop)
  await session.close()
}
