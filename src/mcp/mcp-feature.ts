import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import type {
  ServerCapabilities,
  ServerNotification,
  ServerRequest,
} from '@modelcontextprotocol/sdk/types.js'
import type { SessionLog } from './session-log.ts'

/** What a part sees of the session it answers on. */
export interface SessionContext {
  /** The protocol: requests come in and notifications go out through it. */
  readonly server: Server
  readonly log: SessionLog
  /** Aborted when the session ends: whatever a part began for it ends with it. */
  readonly signal: AbortSignal
  /** Runs an action once the client is ready to be asked and told things. */
  onReady(action: () => void): void
}

/** One thing a server offers its clients. It declares itself, and answers its requests on every session. */
export interface McpFeature {
  readonly capabilities: ServerCapabilities
  attach(session: SessionContext): void
}

/** A request as the protocol hands it over: its id, how it is cancelled, and the way back to its client. */
export type RequestExtra = RequestHandlerExtra<ServerRequest, ServerNotification>
