import type { AgentCatalog } from '../agents/index.ts'
import type { McpMounts, ToolReview } from '../devices/mcp/index.ts'
import { type AgentSpec, getMountPoint, type MountConfig, type Redactor } from '../kernel/index.ts'
import { VfsError } from '../vfs/index.ts'

/** An MCP server and its agent. */
export interface McpServerName {
  readonly agent: string
  readonly server: string
}

/** A server in a list. */
export interface McpServerEntry extends McpServerName {
  /** Program or address of the server. */
  readonly target: string
  /** Number of approved tools; null if none were ever approved. */
  readonly approved: number | null
}

/** A server's current tools compared with the approved ones. */
export interface McpServerReview extends McpServerName, ToolReview {
  readonly target: string
}

/** Pid of the person, who is no process. */
const PERSON_PID = 0

/** MCP servers of agents, for the person who approves their tools. */
export class McpServers {
  readonly #catalog: AgentCatalog
  readonly #mounts: McpMounts
  readonly #redactor: Redactor

  constructor(catalog: AgentCatalog, mounts: McpMounts, redactor: Redactor) {
    this.#catalog = catalog
    this.#mounts = mounts
    this.#redactor = redactor
  }

  /** Registers the secrets of all servers for redaction before any process starts. */
  async learn(): Promise<void> {
    for (const { mcp } of await this.#loadAgents())
      for (const config of Object.values(mcp)) this.#mounts.learn(config)
  }

  /** Lists the servers of all usable agents without starting them. */
  async list(): Promise<McpServerEntry[]> {
    const agents = await this.#loadAgents()
    return Promise.all(agents.flatMap((agent) => this.#listEntries(agent)))
  }

  /**
   * Starts a server and reviews its current tools. Throws ENOENT if it is unknown, EINVAL if its settings are invalid,
   * EUNAVAILABLE or ETIMEDOUT if it does not start.
   */
  async inspect(name: McpServerName, signal: AbortSignal): Promise<McpServerReview> {
    const config = await this.#getConfig(name)
    const review = await this.#mounts.inspect(getMountPath(name), config, signal)
    return { agent: name.agent, server: name.server, target: this.#formatTarget(config), ...review }
  }

  /** Approves reviewed tools by their hash. Throws ECONFLICT if they have changed since. */
  async approve(name: McpServerName, hash: string, signal: AbortSignal): Promise<void> {
    await this.#mounts.approve(getMountPath(name), await this.#getConfig(name), hash, signal)
  }

  async #loadAgents(): Promise<AgentSpec[]> {
    const usable = (await this.#catalog.agents()).filter(({ problem }) => problem === undefined)
    const loaded = await Promise.allSettled(usable.map(({ name }) => this.#catalog.agent(name)))
    // Skip an agent removed meanwhile.
    return loaded.flatMap((agent) => (agent.status === 'fulfilled' ? [agent.value] : []))
  }

  #listEntries({ name: agent, mcp }: AgentSpec): Promise<McpServerEntry>[] {
    return Object.entries(mcp).map(async ([server, config]) => {
      const pin = await this.#mounts.readPin(getMountPath({ agent, server }), config)
      return { agent, server, target: this.#formatTarget(config), approved: pin?.tools.length ?? null }
    })
  }

  async #getConfig({ agent, server }: McpServerName): Promise<MountConfig> {
    const { mcp } = await this.#catalog.agent(agent)
    const config = Object.hasOwn(mcp, server) ? mcp[server] : undefined
    if (config !== undefined) return config
    const known = Object.keys(mcp).join(', ') || 'none'
    const detail = `agent '${agent}' has no MCP server '${server}'; it has: ${known}`
    throw new VfsError('ENOENT', `${agent}/${server}`, { op: 'mcp', detail })
  }

  /** Formats and redacts the target: an address or an argument may contain a key. */
  #formatTarget({ url, command, args }: MountConfig): string {
    const target = url === undefined ? [command, ...(Array.isArray(args) ? args : [])] : [url]
    return this.#redactor.redactText(target.map(String).join(' '))
  }
}

function getMountPath({ server }: McpServerName): string {
  return getMountPoint(PERSON_PID, server)
}
