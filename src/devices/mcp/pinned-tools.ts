import { hash } from 'node:crypto'
import type { Tool } from '@modelcontextprotocol/sdk/types.js'
import { VfsError } from '../../vfs/index.ts'
import type { Connection } from './connection.ts'

/** A server that goes on telling of more tools is cut short. */
const MAX_PAGES = 100

/** What of each server was approved: a hash of what it says about its tools. */
export interface Pins {
  get(server: string): Promise<string | undefined>
  set(server: string, hash: string): Promise<void>
}

/** What a server says about its tools, as far as it is what was approved. */
export class PinnedTools {
  readonly #path: string
  readonly #server: string
  readonly #pins: Pins
  readonly #connection: Connection
  #approved: readonly Tool[] | undefined

  constructor(path: string, server: string, pins: Pins, connection: Connection) {
    this.#path = path
    this.#server = server
    this.#pins = pins
    this.#connection = connection
  }

  /** Those that were approved last and have not changed, as far as is known; none in doubt. */
  get known(): readonly Tool[] {
    return this.#approved ?? []
  }

  /** They may have changed. */
  doubt(): void {
    this.#approved = undefined
  }

  /** What was met first is approved with the server itself. EACCES for anything else later. */
  async approved(signal?: AbortSignal): Promise<readonly Tool[]> {
    return this.#approved ?? this.fresh(signal)
  }

  /** As `approved`, asked of the server now. */
  async fresh(signal?: AbortSignal): Promise<readonly Tool[]> {
    const tools = await this.offered(signal)
    const found = hashOf(tools)
    const pinned = await this.#pins.get(this.#server)
    if (pinned === undefined) await this.#pins.set(this.#server, found)
    else if (pinned !== found) throw this.#changed()
    this.#approved = tools
    return tools
  }

  /** Approves what the server says now; what that is. */
  async approve(signal?: AbortSignal): Promise<readonly Tool[]> {
    const tools = await this.offered(signal)
    await this.#pins.set(this.#server, hashOf(tools))
    this.#approved = tools
    return tools
  }

  /** What the server says now, approved or not. */
  async offered(signal?: AbortSignal): Promise<readonly Tool[]> {
    return this.#connection.use(signal, async (client, options) => {
      if (client.getServerCapabilities()?.tools === undefined) return []
      const tools: Tool[] = []
      let cursor: string | undefined
      for (let page = 0; page < MAX_PAGES; page++) {
        const answer = await client.listTools(cursor === undefined ? {} : { cursor }, options)
        tools.push(...answer.tools)
        cursor = answer.nextCursor
        if (cursor === undefined) break
      }
      return tools
    })
  }

  #changed(): VfsError {
    this.#approved = undefined
    const detail =
      'what the server says about its tools has changed since it was approved; a person has to look at it and approve it again'
    return new VfsError('EACCES', this.#path, { op: 'mcp', detail })
  }
}

/** Everything about the tools that a model reads, whatever order it comes in. */
function hashOf(tools: readonly Tool[]): string {
  const told = tools.map(({ name, title, description, inputSchema, annotations }) =>
    canonical({ name, title, description, inputSchema, annotations }),
  )
  return hash('sha256', told.sort().join('\n'))
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  )
}
