import {
  type Implementation,
  Server,
  type ServerCapabilities,
  type SubscriptionFilter,
  type Transport,
} from '@modelcontextprotocol/server'
import { translateErrors } from './client-error.ts'
import type { ListenAction, McpFeature, SessionContext } from './mcp-feature.ts'
import { SessionLog } from './session-log.ts'

/** Identity and features of a server. */
export interface McpSessionOptions {
  readonly info: Implementation
  /** Instructions for a model. */
  readonly instructions?: string
  readonly parts: readonly McpFeature[]
  /** False for a client of revision 2026-07-28 or later. */
  readonly canSendRequests?: boolean
  /** True for one request of a client without a session, as over HTTP from revision 2026-07-28 on. */
  readonly isSingleRequest?: boolean
}

/** Opens a session for a client. */
export type OpenSession = (
  client?: Pick<McpSessionOptions, 'canSendRequests' | 'isSingleRequest'>,
) => McpSession

/** A client's session over one transport. It ends when either side closes. */
export class McpSession implements SessionContext, AsyncDisposable {
  readonly server: Server
  readonly log: SessionLog
  readonly #end = new AbortController()
  readonly canSendRequests: boolean
  readonly isSingleRequest: boolean
  readonly #onListen: ListenAction[] = []

  constructor(options: McpSessionOptions) {
    const { info, instructions, parts, canSendRequests = true, isSingleRequest = false } = options
    this.canSendRequests = canSendRequests
    this.isSingleRequest = isSingleRequest
    this.server = new Server(info, {
      capabilities: mergeCapabilities(parts),
      ...(instructions !== undefined && { instructions }),
    })
    this.server.onclose = () => this.#end.abort()
    this.log = new SessionLog(this.server, canSendRequests)
    for (const part of parts) part.attach(this)
  }

  get signal(): AbortSignal {
    return this.#end.signal
  }

  onListen(action: ListenAction): void {
    this.#onListen.push(action)
  }

  /** Reports a stream of notifications that the client has opened. */
  listen(filter: SubscriptionFilter, signal: AbortSignal): void {
    for (const action of this.#onListen) action(filter, signal)
  }

  /** Starts listening. A session has one transport, once. */
  async connect(transport: Transport): Promise<void> {
    await this.server.connect(translateErrors(transport))
  }

  /** Ends the session and cancels pending requests. Idempotent. */
  async close(): Promise<void> {
    await this.server.close()
    this.#end.abort()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

function mergeCapabilities(parts: readonly McpFeature[]): ServerCapabilities {
  return Object.assign({ logging: {} }, ...parts.map(({ capabilities }) => capabilities))
}
