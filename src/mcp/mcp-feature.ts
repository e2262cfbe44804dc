import type {
  Server,
  ServerCapabilities,
  ServerContext,
  SubscriptionFilter,
} from '@modelcontextprotocol/server'
import type { SessionLog } from './session-log.ts'

/** The session, as a feature sees it. */
export interface SessionContext {
  /** Protocol of the session, for requests and notifications. */
  readonly server: Server
  readonly log: SessionLog
  /** Aborted when the session ends, and with it all work of the feature. */
  readonly signal: AbortSignal
  /** False for clients of revision 2026-07-28 on: a result asks them, and they send the request again with the answers. */
  readonly canSendRequests: boolean
  /** True if the session serves one request: nothing that a client did before is known to it. */
  readonly isSingleRequest: boolean
  /** Runs an action for each stream of notifications that a client of revision 2026-07-28 opens. */
  onListen(action: ListenAction): void
}

/** Handles a stream of notifications: what the client wants to get, until the signal aborts. */
export type ListenAction = (filter: SubscriptionFilter, signal: AbortSignal) => void

/** A feature of a server. It declares its capabilities and handles its requests on every session. */
export interface McpFeature {
  readonly capabilities: ServerCapabilities
  attach(session: SessionContext): void
}

/** A request of the protocol: its id, its signal, and the channel back to its client. */
export type RequestExtra = ServerContext
