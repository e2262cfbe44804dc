import { VfsError } from '../../vfs/index.ts'
import { listPages } from './list-pages.ts'
import type { McpConnection } from './mcp-connection.ts'
import type { Pin } from './pin.ts'
import { hashTools, pickToolFacts, type ToolFacts } from './tool-facts.ts'
import { reviewTools, type ToolReview } from './tool-review.ts'

/** Approvals of all servers. */
export interface Pins {
  get(server: string): Promise<Pin | undefined>
  set(server: string, pin: Pin): Promise<void>
}

const NO_TOOLS: readonly ToolFacts[] = []

/** A server's tools, checked against its approval. */
export class PinnedTools {
  readonly #path: string
  readonly #server: string
  readonly #pins: Pins
  readonly #connection: McpConnection
  #approved: readonly ToolFacts[] | undefined

  constructor(path: string, server: string, pins: Pins, connection: McpConnection) {
    this.#path = path
    this.#server = server
    this.#pins = pins
    this.#connection = connection
  }

  /** Approved tools as last fetched; none if they may have changed since. */
  get approved(): readonly ToolFacts[] {
    return this.#approved ?? NO_TOOLS
  }

  /** Marks the tools as possibly changed. */
  invalidate(): void {
    this.#approved = undefined
  }

  /** Returns the tools. The first ones seen are approved with the server; later changes are EACCES. */
  async getApproved(signal?: AbortSignal): Promise<readonly ToolFacts[]> {
    return this.#approved ?? this.fetchApproved(signal)
  }

  /** Like `getApproved`, but always asks the server. */
  async fetchApproved(signal?: AbortSignal): Promise<readonly ToolFacts[]> {
    const tools = await this.fetchTools(signal)
    const hash = hashTools(tools)
    const pinned = await this.#pins.get(this.#server)
    if (pinned === undefined) await this.#pins.set(this.#server, { hash, tools })
    else if (pinned.hash !== hash) {
      this.#approved = undefined
      throw this.#createChangedError()
    }
    this.#approved = tools
    return tools
  }

  /** Compares the server's current tools with the approved ones. */
  async review(signal?: AbortSignal): Promise<ToolReview> {
    return reviewTools(await this.readPin(), await this.fetchTools(signal))
  }

  /** Returns the last approval, or undefined, without asking the server. */
  readPin(): Promise<Pin | undefined> {
    return this.#pins.get(this.#server)
  }

  /** Approves the current tools if their hash is the reviewed one; ECONFLICT otherwise. */
  async approve(reviewedHash: string, signal?: AbortSignal): Promise<void> {
    const tools = await this.fetchTools(signal)
    const hash = hashTools(tools)
    if (hash !== reviewedHash) throw this.#createConflictError()
    await this.#pins.set(this.#server, { hash, tools })
    this.#approved = tools
  }

  /** Fetches the current tools, approved or not. */
  async fetchTools(signal?: AbortSignal): Promise<readonly ToolFacts[]> {
    return this.#connection.use(signal, async (client, options) => {
      if (client.getServerCapabilities()?.tools === undefined) return []
      return listPages(this.#path, async (cursor) => {
        // Not listTools(), which would fetch all pages without these limits.
        const request = { method: 'tools/list' as const, params: cursor }
        const { tools, nextCursor } = await client.request(request, options)
        return { items: tools.map(pickToolFacts), nextCursor }
      })
    })
  }

  #createChangedError(): VfsError {
    const detail =
      'the tool descriptions of the server have changed since they were approved; a person must review and approve them again: coppice mcp-servers approve'
    return new VfsError('EACCES', this.#path, { op: 'mcp', detail })
  }

  #createConflictError(): VfsError {
    const detail = 'the tool descriptions of the server have changed since the review; review them again'
    return new VfsError('ECONFLICT', this.#path, { op: 'approve', detail })
  }
}
