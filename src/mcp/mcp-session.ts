import {
  type Implementation,
  Server,
  type ServerCapabilities,
  type Transport,
} from '@modelcontextprotocol/server'
import { withClientError } from './client-error.ts'
import type { McpFeature, SessionContext } from './mcp-feature.ts'
import { SessionLog } from './session-log.ts'

/** Identity and features of a server. */
export interface McpSessionOptions {
  readonly info: Implementation
  /** Instructions for a model. */
  readonly instructions?: string
  readonly parts: readonly McpFeature[]
}

/** A client's session over one transport. It ends when either side closes. */
export class McpSession implements SessionContext, AsyncDisposable {
  readonly server: Server
  readonly log: SessionLog
  readonly #end = new AbortController()
  readonly #onReady: (() => void)[] = []

  constructor({ info, instructions, parts }: McpSessionOptions) {
    this.server = new Server(info, {
      capabilities: mergeCapabilities(parts),
      ...(instructions !== undefined && { instructions }),
    })
    this.server.onclose = () => this.#end.abort()
    this.server.oninitialized = () => {
      for (const action of this.#onReady) action()
    }
    this.log = new SessionLog(this.server)
    for (const part of parts) part.attach(this)
  }

  get signal(): AbortSignal {
    return this.#end.signal
  }

  onReady(action: () => void): void {
    this.#onReady.push(action)
  }

  /** Starts listening. A session has one transport, once. */
  async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => send(withClientError(message), options)
    await this.server.connect(transport)
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
