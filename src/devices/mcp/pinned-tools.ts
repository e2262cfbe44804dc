import { VfsError } from '../../vfs/index.ts'
import { listPages } from './list-pages.ts'
import type { McpConnection } from './mcp-connection.ts'
import type { Pin } from './pin.ts'
import { hashTools, pickToolFacts, type ToolFacts } from './tool-facts.ts'
import { reviewTools, type ToolReview } from './tool-review.ts'

/** What of each server was approved. */
export interface Pins {
  get(server: string): Promise<Pin | undefined>
  set(server: string, pin: Pin): Promise<void>
}

/** What a server says about its tools, as far as it is what was approved. */
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

  /** Those that were approved last and have not changed, as far as is known; none in doubt. */
  get known(): readonly ToolFacts[] {
    return this.#approved ?? []
  }

  /** They may have changed. */
  invalidate(): void {
    this.#approved = undefined
  }

  /** What was met first is approved with the server itself. EACCES for anything else later. */
  async getApproved(signal?: AbortSignal): Promise<readonly ToolFacts[]> {
    return this.#approved ?? this.fetchApproved(signal)
  }

  /** As `approved`, asked of the server now. */
  async fetchApproved(signal?: AbortSignal): Promise<readonly ToolFacts[]> {
    const tools = await this.fetchTools(signal)
    const hash = hashTools(tools)
    const pinned = await this.#pins.get(this.#server)
    if (pinned === undefined) await this.#pins.set(this.#server, { hash, tools })
    else if (pinned.hash !== hash) throw this.#createChangedError()
    this.#approved = tools
    return tools
  }

  /** What the server says now beside what was approved. */
  async review(signal?: AbortSignal): Promise<ToolReview> {
    return reviewTools(await this.readPin(), await this.fetchTools(signal))
  }

  /** What was approved last; undefined if nothing was. The server is not asked. */
  readPin(): Promise<Pin | undefined> {
    return this.#pins.get(this.#server)
  }

  /** Approves what the server says now, if it is what was looked at. ECONFLICT. */
  async approve(lookedAt: string, signal?: AbortSignal): Promise<void> {
    const tools = await this.fetchTools(signal)
    const hash = hashTools(tools)
    if (hash !== lookedAt) throw this.#createConflictError()
    await this.#pins.set(this.#server, { hash, tools })
    this.#approved = tools
  }

  /** What the server says now, approved or not. */
  async fetchTools(signal?: AbortSignal): Promise<readonly ToolFacts[]> {
    return this.#connection.use(signal, async (client, options) => {
      if (client.getServerCapabilities()?.tools === undefined) return []
      return listPages(this.#path, async (cursor) => {
        const { tools, nextCursor } = await client.listTools(cursor, options)
        return { items: tools.map(pickToolFacts), nextCursor }
      })
    })
  }

  #createChangedError(): VfsError {
    this.#approved = undefined
    const detail =
      'what the server says about its tools has changed since it was approved; a person has to look at it and approve it again: coppice mcp-servers approve'
    return new VfsError('EACCES', this.#path, { op: 'mcp', detail })
  }

  #createConflictError(): VfsError {
    const detail = 'what the server says about its tools is not what was looked at; look at it again'
    return new VfsError('ECONFLICT', this.#path, { op: 'approve', detail })
  }
}
