import type { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { McpRequestContext, RequestId, SubscriptionFilter } from '@modelcontextprotocol/server'
import { serveStdio as serveConnection } from '@modelcontextprotocol/server/stdio'
import { translateErrors } from './client-error.ts'
import type { McpSession, OpenSession } from './mcp-session.ts'
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

/**
 * Serves one client over a pair of streams, until its side ends, it stops reading, or the signal aborts. Its first
 * request decides which protocol revision it gets a session for.
 */
export async function serveStdio(open: OpenSession, { in: input, out, signal }: Stdio): Promise<void> {
  const transport = translateErrors(new StdioTransport(input, out))
  const stop = AbortSignal.any([signal, transport.closed])
  const ended = finished(input, { signal: stop, writable: false }).catch(() => {})
  const streams = new NotificationStreams(transport)
  const createServer = ({ era }: McpRequestContext) => {
    const session = open({ canSendRequests: era === 'legacy' })
    streams.attach(session)
    return session.server
  }
  const connection = serveConnection(createServer, { transport })
  await ended
  // A client that pipes in requests and closes still wants the responses.
  if (!stop.aborted) await transport.waitForAnswers(DRAIN_TIMEOUT_MS, stop)
  await connection.close()
}

/** Streams of notifications that a client of revision 2026-07-28 opens, until it cancels them. */
class NotificationStreams {
  readonly #open = new Map<
    RequestId,
    { readonly filter: SubscriptionFilter; readonly end: AbortController }
  >()
  #session: McpSession | undefined

  constructor(transport: StdioTransport) {
    transport.onlisten = (id, filter) => {
      const end = new AbortController()
      this.#open.set(id, { filter, end })
      this.#session?.listen(filter, end.signal)
    }
    transport.oncancel = (id) => {
      this.#open.get(id)?.end.abort()
      this.#open.delete(id)
    }
  }

  /** Reports them to a session. The first request opens the session, and may itself open a stream. */
  attach(session: McpSession): void {
    this.#session = session
    for (const { filter, end } of this.#open.values()) session.listen(filter, end.signal)
  }
}
