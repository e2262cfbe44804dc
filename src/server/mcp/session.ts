import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/sdk/types.js'
import type { McpPart, SessionFace } from './part.ts'
import { SessionLog } from './session-log.ts'
import { withToldError } from './told-error.ts'

/** What a server is: how it introduces itself, and what it offers. */
export interface McpOffer {
  readonly info: Implementation
  /** What a model should know before it calls anything. */
  readonly instructions?: string
  readonly parts: readonly McpPart[]
}

/** One client's conversation with a server, over one transport. It ends when either side closes. */
export class McpSession implements SessionFace, AsyncDisposable {
  readonly server: Server
  readonly log: SessionLog
  readonly #end = new AbortController()
  readonly #onReady: (() => void)[] = []

  constructor({ info, instructions, parts }: McpOffer) {
    this.server = new Server(info, {
      capabilities: capabilitiesOf(parts),
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

  /** Begins to listen. A session has one transport, once. */
  async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport)
    transport.send = (message, options) => send(withToldError(message), options)
    await this.server.connect(transport)
  }

  /** Ends the conversation and cancels what is under way. Twice is as good as once. */
  async close(): Promise<void> {
    await this.server.close()
    this.#end.abort()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

function capabilitiesOf(parts: readonly McpPart[]): ServerCapabilities {
  return Object.assign({ logging: {} }, ...parts.map(({ capabilities }) => capabilities))
}
