import type { AgentCatalog } from '../agents/index.ts'
import type { McpMounts, ToolReview } from '../devices/mcp/index.ts'
import { type AgentSpec, getMountPoint, type MountConfig, type Redactor } from '../kernel/index.ts'
import { VfsError } from '../vfs/index.ts'

/** An MCP server, by the agent that has it. */
export interface McpServerName {
  readonly agent: string
  readonly server: string
}

/** A server as a list shows it. */
export interface McpServerEntry extends McpServerName {
  /** What is run or reached. */
  readonly target: string
  /** How many tools were approved; null if it was never met. */
  readonly approved: number | null
}

/** A server as it is now beside what was approved. */
export interface McpServerReview extends McpServerName, ToolReview {
  readonly target: string
}

/** The person, who is no process, looks at servers. */
const PERSON_PID = 0

/** The MCP servers that agents have, for the person who approves what they say about their tools. */
export class McpServers {
  readonly #catalog: AgentCatalog
  readonly #mounts: McpMounts
  readonly #redactor: Redactor

  constructor(shelf: AgentCatalog, mounts: McpMounts, redactor: Redactor) {
    this.#catalog = shelf
    this.#mounts = mounts
    this.#redactor = redactor
  }

  /** Has the secrets of all servers known before any process begins: a person may name one to a process without them. */
  async learn(): Promise<void> {
    for (const { mcp } of await this.#loadAgents())
      for (const config of Object.values(mcp)) this.#mounts.learn(config)
  }

  /** Those of all agents that can be used. None is started. */
  async list(): Promise<McpServerEntry[]> {
    const agents = await this.#loadAgents()
    return Promise.all(agents.flatMap((agent) => this.#listEntries(agent)))
  }

  /** Starts a server to see what it says now. ENOENT, EINVAL, EUNAVAILABLE, ETIMEDOUT. */
  async inspect(name: McpServerName, signal: AbortSignal): Promise<McpServerReview> {
    const config = await this.#getConfig(name)
    const review = await this.#mounts.inspect(getMountPath(name), config, signal)
    return { agent: name.agent, server: name.server, target: this.#formatTarget(config), ...review }
  }

  /** Approves what was looked at, by the hash of its review. ECONFLICT if the server says something else by now. */
  async approve(name: McpServerName, hash: string, signal: AbortSignal): Promise<void> {
    await this.#mounts.approve(getMountPath(name), await this.#getConfig(name), hash, signal)
  }

  async #loadAgents(): Promise<AgentSpec[]> {
    const usable = (await this.#catalog.agents()).filter(({ problem }) => problem === undefined)
    const loaded = await Promise.allSettled(usable.map(({ name }) => this.#catalog.agent(name)))
    // One that was removed meanwhile is no longer there.
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

  /** An address or an argument may hold a key. */
  #formatTarget({ url, command, args }: MountConfig): string {
    const target = url === undefined ? [command, ...(Array.isArray(args) ? args : [])] : [url]
    return this.#redactor.redactText(target.map(String).join(' '))
  }
}

function getMountPath({ server }: McpServerName): string {
  return getMountPoint(PERSON_PID, server)
}
