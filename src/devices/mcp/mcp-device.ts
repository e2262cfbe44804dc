import {
  createJsonRequestFile,
  type Device,
  type DeviceContext,
  type DeviceEntry,
  type DeviceFile,
  type DeviceTool,
  SnapshotFile,
} from '../../kernel/index.ts'
import { basename, VfsError } from '../../vfs/index.ts'
import type { McpConnection } from './mcp-connection.ts'
import { McpResources } from './mcp-resources.ts'
import type { PinnedTools } from './pinned-tools.ts'

/** Longest tool name that model providers accept. */
const MAX_TOOL_NAME = 64

/** A server as a device: `/`, `/tools`, `/tools/{name}`, `/resources`, `/resources/{uri}`. */
export class McpDevice implements Device {
  readonly match = 'prefix'
  readonly #path: string
  readonly #connection: McpConnection
  readonly #tools: PinnedTools
  readonly #resources: McpResources
  readonly #origin: string
  /** Approved tools as last listed: the same as long as these are, so that nobody lists them anew for each step. */
  #listed: { readonly approved: PinnedTools['approved']; readonly tools: readonly DeviceTool[] } | undefined

  constructor(path: string, name: string, connection: McpConnection, tools: PinnedTools) {
    this.#path = path
    this.#connection = connection
    this.#tools = tools
    this.#resources = new McpResources(connection)
    this.#origin = `mcp:${name}`
  }

  /** Approved tools, prefixed with the mount's name, since servers share tool names. */
  get tools(): readonly DeviceTool[] {
    const { approved } = this.#tools
    if (this.#listed?.approved !== approved) this.#listed = { approved, tools: this.#toDeviceTools(approved) }
    return this.#listed.tools
  }

  async open(subpath: string, _mode: number, ctx: DeviceContext): Promise<DeviceFile> {
    const path = `${this.#path}${subpath}`
    const snapshot = (content: unknown) => new SnapshotFile(path, JSON.stringify(content))
    if (subpath === '' || subpath === '/') return snapshot(['tools', 'resources'])
    if (subpath === '/tools') return snapshot({ origin: this.#origin, tools: await this.#listToolsFor(ctx) })
    if (subpath.startsWith('/tools/')) return this.#openTool(path, subpath.slice('/tools/'.length), ctx)
    const { signal } = ctx
    if (subpath === '/resources') {
      return snapshot({ origin: this.#origin, resources: await this.#resources.list(signal) })
    }
    if (subpath.startsWith('/resources/')) {
      const contents = await this.#resources.read(path, subpath.slice('/resources/'.length), signal)
      return snapshot({ origin: this.#origin, contents })
    }
    throw new VfsError('ENOENT', path, { op: 'open', detail: 'there are: tools, resources' })
  }

  async list(subpath: string, ctx: DeviceContext): Promise<readonly DeviceEntry[]> {
    if (subpath === '') {
      return ['tools', 'resources'].map((name) => ({ name, type: 'directory' }))
    }
    if (subpath === '/tools') {
      return (await this.#listToolsFor(ctx)).map(({ name }) => ({ name, type: 'device' }))
    }
    if (subpath === '/resources') {
      const resources = await this.#resources.list(ctx.signal)
      return resources.map(({ uri }) => ({ name: encodeURIComponent(uri), type: 'device' }))
    }
    throw new VfsError('ENOTDIR', `${this.#path}${subpath}`, { op: 'readdir' })
  }

  #toDeviceTools(approved: PinnedTools['approved']): readonly DeviceTool[] {
    return approved.map(({ name, description = '', inputSchema }) => ({
      name: `mcp__${basename(this.#path)}__${name}`.replaceAll(/[^\w-]/g, '_').slice(0, MAX_TOOL_NAME),
      description,
      inputSchema,
      request: (body) => ({ subpath: `/tools/${name}`, body }),
    }))
  }

  /** Lists unapproved tools too for a person, who reviews them; never for a process. */
  #listToolsFor({ pid, signal }: DeviceContext): Promise<PinnedTools['approved']> {
    return pid === 0 ? this.#tools.fetchTools(signal) : this.#tools.fetchApproved(signal)
  }

  async #openTool(path: string, name: string, ctx: DeviceContext): Promise<DeviceFile> {
    const tools = await this.#tools.getApproved(ctx.signal)
    const toolDefinition = tools.find((tool) => tool.name === name)
    if (toolDefinition === undefined) {
      const names = tools.map((tool) => tool.name).join(', ') || 'none'
      throw new VfsError('ENOENT', path, { op: 'open', detail: `there is no such tool; there are: ${names}` })
    }
    return createJsonRequestFile(path, async (args, signal = ctx.signal) => {
      // The server may have changed its tools since the file was opened.
      await this.#tools.getApproved(signal)
      const result = await this.#connection.use(signal, (client, options) =>
        client.callTool({ name, arguments: assertArguments(path, args) }, { ...options, toolDefinition }),
      )
      return { origin: this.#origin, ...result }
    })
  }
}

function assertArguments(path: string, args: unknown): Record<string, unknown> {
  if (typeof args === 'object' && args !== null && !Array.isArray(args)) return { ...args }
  throw new VfsError('EINVAL', path, { op: 'write', detail: 'the arguments of a tool must be a JSON object' })
}
