import {
  type DeviceRegistry,
  KnownSecrets,
  type MountConfig,
  type MountManager,
  type Redactor,
} from '../../kernel/index.ts'
import { basename, VfsError } from '../../vfs/index.ts'
import { McpConnection } from './mcp-connection.ts'
import { McpDevice } from './mcp-device.ts'
import type { Pin } from './pin.ts'
import { PinnedTools, type Pins } from './pinned-tools.ts'
import { getServerIdentity, parseServerConfig } from './server-config.ts'
import { listSecrets } from './server-secrets.ts'
import type { ToolReview } from './tool-review.ts'

const MOUNT_POINT = /^\/mnt\/mcp\/[^/]+$/
const DEFAULT_CONNECT_TIMEOUT_MS = 500

/** Options of `McpMounts`. */
export interface McpMountsOptions {
  /** Storage of approvals. */
  readonly pins: Pins
  /** Connect timeout for servers that set none; 500 ms when absent. */
  readonly connectTimeoutMs?: number
  /** Base environment of servers that are programs; empty when absent. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Receives the secrets of every server before it is contacted, so that no record contains them. */
  readonly redactor?: Pick<Redactor, 'addSecrets'>
  /** Name and version to send to servers. */
  readonly clientInfo?: { readonly name: string; readonly version: string }
}

interface MountedServer {
  readonly connection: McpConnection
  readonly tools: PinnedTools
}

/** Mounts MCP servers as devices, and ends them. */
export class McpMounts implements MountManager {
  readonly #devices: DeviceRegistry
  readonly #options: McpMountsOptions
  readonly #mounts = new Map<string, MountedServer>()

  constructor(devices: DeviceRegistry, options: McpMountsOptions) {
    this.#devices = devices
    this.#options = options
  }

  /**
   * Starts a server or connects to it, and registers it at `/mnt/mcp/<name>`. A failure leaves nothing mounted: EINVAL
   * for an invalid path or configuration, EEXIST, ETIMEDOUT or EUNAVAILABLE if the server does not answer, and EACCES
   * if its tools are not those that were approved.
   */
  async mount(path: string, config: MountConfig, signal?: AbortSignal): Promise<void> {
    if (this.#mounts.has(path)) throw new VfsError('EEXIST', path, { op: 'mount' })
    const server = this.#createServer(path, config)
    const { connection, tools } = server
    try {
      await connection.connect(signal)
      await tools.fetchApproved(signal)
      signal?.throwIfAborted()
      this.#devices.register(path, new McpDevice(path, getServerName(path), connection, tools))
    } catch (error) {
      await connection.close()
      throw error
    }
    this.#mounts.set(path, server)
  }

  /** Unmounts a server. ENOENT if none is mounted there. Removes the device even if the server does not end cleanly. */
  async unmount(path: string): Promise<void> {
    const server = this.#mounts.get(path)
    if (server === undefined) throw new VfsError('ENOENT', path, { op: 'unmount' })
    this.#mounts.delete(path)
    try {
      await server.connection.close()
    } finally {
      this.#devices.unregister(path)
    }
  }

  /** Unmounts all servers, and ignores failures. */
  async unmountAll(): Promise<void> {
    await Promise.allSettled([...this.#mounts.keys()].map((path) => this.unmount(path)))
  }

  /**
   * Approves a server's current tools for a person who reviewed them; `lookedAt` is the hash of the review.
   * Starts the server. ECONFLICT if its tools have changed since. Existing mounts see the approval on their next use.
   */
  async approve(path: string, config: MountConfig, lookedAt: string, signal?: AbortSignal): Promise<void> {
    await this.#withTools(path, config, (tools) => tools.approve(lookedAt, signal))
  }

  /** Starts a server and compares its current tools with the approved ones, for a person to review. */
  inspect(path: string, config: MountConfig, signal?: AbortSignal): Promise<ToolReview> {
    return this.#withTools(path, config, (tools) => tools.review(signal))
  }

  /** Returns the approval of a server, or undefined, without starting it. */
  readPin(path: string, config: MountConfig): Promise<Pin | undefined> {
    return this.#createServer(path, config).tools.readPin()
  }

  /** Registers the secrets of a server for redaction, whether it is mounted or not. */
  learn(config: MountConfig): void {
    this.#options.redactor?.addSecrets(listSecrets(config))
  }

  async #withTools<Result>(
    path: string,
    config: MountConfig,
    ask: (tools: PinnedTools) => Promise<Result>,
  ): Promise<Result> {
    const { connection, tools } = this.#createServer(path, config)
    try {
      return await ask(tools)
    } finally {
      await connection.close()
    }
  }

  #createServer(path: string, given: MountConfig): MountedServer {
    if (!MOUNT_POINT.test(path)) {
      throw new VfsError('EINVAL', path, { op: 'mount', detail: 'the mount point must be /mnt/mcp/<name>' })
    }
    const { pins, connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS, env = {}, clientInfo } = this.#options
    this.learn(given)
    const config = parseServerConfig(path, given)
    const secrets = new KnownSecrets(listSecrets(given))
    const client = clientInfo ?? { name: 'coppice', version: '0' }
    const connection: McpConnection = new McpConnection(
      { path, config, connectTimeoutMs, env, secrets, clientInfo: client },
      () => tools.invalidate(),
    )
    const tools = new PinnedTools(path, getServerIdentity(getServerName(path), config), pins, connection)
    return { connection, tools }
  }
}

/** Returns a server's name without the pid of the process it is mounted for. */
function getServerName(path: string): string {
  return basename(path).replace(/^\d+-/, '')
}
