import { VfsError } from '../../vfs/index.ts'
import type { Connection } from './connection.ts'
import { listPages } from './list-pages.ts'
import type { Pin } from './pin.ts'
import { factsOf, hashOf, type ToolFacts } from './tool-facts.ts'
import { reviewOf, type ToolReview } from './tool-review.ts'

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
  readonly #connection: Connection
  #approved: readonly ToolFacts[] | undefined

  constructor(path: string, server: string, pins: Pins, connection: Connection) {
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
  doubt(): void {
    this.#approved = undefined
  }

  /** What was met first is approved with the server itself. EACCES for anything else later. */
  async approved(signal?: AbortSignal): Promise<readonly ToolFacts[]> {
    return this.#approved ?? this.fresh(signal)
  }

  /** As `approved`, asked of the server now. */
  async fresh(signal?: AbortSignal): Promise<readonly ToolFacts[]> {
    const tools = await this.offered(signal)
    const hash = hashOf(tools)
    const pinned = await this.#pins.get(this.#server)
    if (pinned === undefined) await this.#pins.set(this.#server, { hash, tools })
    else if (pinned.hash !== hash) throw this.#changed()
    this.#approved = tools
    return tools
  }

  /** What the server says now beside what was approved. */
  async review(signal?: AbortSignal): Promise<ToolReview> {
    return reviewOf(await this.pinned(), await this.offered(signal))
  }

  /** What was approved last; undefined if nothing was. The server is not asked. */
  pinned(): Promise<Pin | undefined> {
    return this.#pins.get(this.#server)
  }

  /** Approves what the server says now, if it is what was looked at. ECONFLICT. */
  async approve(lookedAt: string, signal?: AbortSignal): Promise<void> {
    const tools = await this.offered(signal)
    const hash = hashOf(tools)
    if (hash !== lookedAt) throw this.#changedAgain()
    await this.#pins.set(this.#server, { hash, tools })
    this.#approved = tools
  }

  /** What the server says now, approved or not. */
  async offered(signal?: AbortSignal): Promise<readonly ToolFacts[]> {
    return this.#connection.use(signal, async (client, options) => {
      if (client.getServerCapabilities()?.tools === undefined) return []
      return listPages(this.#path, async (cursor) => {
        const { tools, nextCursor } = await client.listTools(cursor, options)
        return { items: tools.map(factsOf), nextCursor }
      })
    })
  }

  #changed(): VfsError {
    this.#approved = undefined
    const detail =
      'what the server says about its tools has changed since it was approved; a person has to look at it and approve it again: coppice mcp-servers approve'
    return new VfsError('EACCES', this.#path, { op: 'mcp', detail })
  }

  #changedAgain(): VfsError {
    const detail = 'what the server says about its tools is not what was looked at; look at it again'
    return new VfsError('ECONFLICT', this.#path, { op: 'approve', detail })
  }
}
