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

export interface McpMountsOptions {
  /** Where what was approved is remembered. */
  readonly pins: Pins
  /** How long connecting may take, for a server that does not say; 500 ms when absent. */
  readonly connectTimeoutMs?: number
  /** The environment of servers that are programs; theirs is added to it. Empty when absent. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Told the secrets of every server before it is met, so that no record has them; nobody when absent. */
  readonly redactor?: Pick<Redactor, 'addSecrets'>
  /** How servers are told who speaks to them. */
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
   * Starts a server or connects to it, and registers it at `/mnt/mcp/<name>`. Nothing is left of one that fails: EINVAL,
   * EEXIST, ETIMEDOUT, EUNAVAILABLE, and EACCES if what it says about its tools is not what was approved.
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

  /** ENOENT. The device is gone even if the server does not end as it should. */
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

  async unmountAll(): Promise<void> {
    await Promise.allSettled([...this.#mounts.keys()].map((path) => this.unmount(path)))
  }

  /**
   * Approves what a server says about its tools now, for a person who has looked at it: the hash is that of the review.
   * The server is started for it. ECONFLICT if it says something else by now. Where it is mounted, the next use knows.
   */
  async approve(path: string, config: MountConfig, lookedAt: string, signal?: AbortSignal): Promise<void> {
    await this.#withTools(path, config, (tools) => tools.approve(lookedAt, signal))
  }

  /** What a server says about its tools now beside what was approved, for a person to look at. It is started for it. */
  inspect(path: string, config: MountConfig, signal?: AbortSignal): Promise<ToolReview> {
    return this.#withTools(path, config, (tools) => tools.review(signal))
  }

  /** What was approved of a server; undefined if nothing was. It is not started. */
  readPin(path: string, config: MountConfig): Promise<Pin | undefined> {
    return this.#createServer(path, config).tools.readPin()
  }

  /** Has the secrets of a server taken out of records, whether it is mounted or not. */
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
      throw new VfsError('EINVAL', path, { op: 'mount', detail: 'servers are mounted at /mnt/mcp/<name>' })
    }
    const { pins, connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS, env = {}, clientInfo } = this.#options
    this.learn(given)
    const config = parseServerConfig(path, given)
    const secrets = new KnownSecrets(listSecrets(given))
    const told = clientInfo ?? { name: 'coppice', version: '0' }
    const connection: McpConnection = new McpConnection(
      { path, config, connectTimeoutMs, env, secrets, clientInfo: told },
      () => tools.invalidate(),
    )
    const tools = new PinnedTools(path, getServerIdentity(getServerName(path), config), pins, connection)
    return { connection, tools }
  }
}

/** The number of the process it is mounted for is not part of a server's name. */
function getServerName(path: string): string {
  return basename(path).replace(/^\d+-/, '')
}
