import type { Server, ServerCapabilities, ServerContext } from '@modelcontextprotocol/server'
import type { SessionLog } from './session-log.ts'

/** The session, as a feature sees it. */
export interface SessionContext {
  /** Protocol of the session, for requests and notifications. */
  readonly server: Server
  readonly log: SessionLog
  /** Aborted when the session ends, and with it all work of the feature. */
  readonly signal: AbortSignal
  /** Runs an action once the client accepts requests and notifications. */
  onReady(action: () => void): void
}

/** A feature of a server. It declares its capabilities and handles its requests on every session. */
export interface McpFeature {
  readonly capabilities: ServerCapabilities
  attach(session: SessionContext): void
}

/** A request of the protocol: its id, its signal, and the channel back to its client. */
export type RequestExtra = ServerContext
