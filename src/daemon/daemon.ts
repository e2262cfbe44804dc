import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { type AgentKernel, type AgentKernelOptions, openKernel } from '../agent-kernel/index.ts'
import { type Home, openHome } from '../backends/vault/index.ts'
import { readConfig } from '../config/index.ts'
import type { DaemonStatus } from './client/index.ts'
import { ClientConnection } from './client-connection.ts'
import { DaemonLock } from './daemon-lock.ts'
import { createMethods } from './daemon-service.ts'
import { DaemonUi, getPageDirectory } from './daemon-ui.ts'

export interface DaemonOptions extends Omit<AgentKernelOptions, 'home'> {
  /** The directory of the home. */
  readonly home: string
  readonly socket: string
  readonly version: string
  /** Mark of the program's build. */
  readonly build?: string | undefined
  /** Idle time in ms, without process, client or cron job, before it stops; null for none. */
  readonly idleMs: number | null
}

const OWNER_ONLY = 0o600

/** Starts the daemon of a home. EEXIST, without side effects, if one runs. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const claim = DaemonLock.acquire(options.home)
  let home: Home | undefined
  let agents: AgentKernel | undefined
  try {
    const { engine, durability } = await readConfig(options.home)
    home = await openHome({
      path: options.home,
      ...(engine !== undefined && { engine }),
      ...(durability !== undefined && { durability }),
    })
    agents = await openKernel({ ...options, home })
    const server = createServer({ pauseOnConnect: false })
    await listenOnSocket(server, options.socket)
    return new Daemon(options, { lock: claim, home, agents, server })
  } catch (error) {
    await agents?.close()
    await home?.close()
    claim[Symbol.dispose]()
    throw error
  }
}

/** Removes a socket that a killed daemon left: the lock proves that no other daemon runs. */
async function listenOnSocket(server: Server, socket: string): Promise<void> {
  rmSync(socket, { force: true })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(socket, resolve)
  await promise
  server.off('error', reject)
  chmodSync(socket, OWNER_ONLY)
}

interface DaemonParts {
  readonly lock: DaemonLock
  readonly home: Home
  readonly agents: AgentKernel
  readonly server: Server
}

/** Serves the processes of a home to clients, until it is stopped or idle for long enough. */
export class Daemon implements AsyncDisposable {
  /** Resolves when everything is closed. */
  readonly closed: Promise<void>
  readonly #options: DaemonOptions
  readonly #parts: DaemonParts
  readonly #clients = new Set<ClientConnection>()
  readonly #startedAt = new Date()
  readonly #ui: DaemonUi
  readonly #settle: { readonly resolve: () => void; readonly reject: (error: unknown) => void }
  #idle: NodeJS.Timeout | undefined
  #isStopping = false

  constructor(options: DaemonOptions, parts: DaemonParts) {
    this.#options = options
    this.#parts = parts
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.closed = promise
    this.#settle = { resolve, reject }
    this.#ui = new DaemonUi({
      home: parts.home,
      agents: parts.agents,
      directory: options.home,
      version: options.version,
      commands: options.commands ?? { env: {} },
      page: getPageDirectory(options.builtIn ?? ''),
    })
    const methods = createMethods(parts.agents, {
      ui: this.#ui,
      status: () => this.status(),
      stop: () => this.#stopSoon(),
    })
    parts.server.on('connection', (socket) => {
      const client = new ClientConnection(socket, methods)
      this.#clients.add(client)
      socket.on('close', () => {
        this.#clients.delete(client)
        this.#scheduleIdleStop()
      })
    })
    this.#scheduleIdleStop()
  }

  status(): DaemonStatus {
    const { agents } = this.#parts
    return {
      pid: process.pid,
      version: this.#options.version,
      build: this.#options.build,
      home: this.#options.home,
      started_at: this.#startedAt.toISOString(),
      processes: agents.running,
      clients: this.#clients.size,
      cron_jobs: agents.crontab.list().jobs.length,
      idle_ms: this.#options.idleMs,
    }
  }

  /** Ends all processes and clients, and releases the home. Idempotent. */
  stop(): Promise<void> {
    if (!this.#isStopping) {
      this.#isStopping = true
      clearTimeout(this.#idle)
      this.#close().then(this.#settle.resolve, this.#settle.reject)
    }
    return this.closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** Runs after the response to the caller. */
  #stopSoon(): void {
    setImmediate(() => void this.stop().catch(() => {}))
  }

  async #close(): Promise<void> {
    const { server, agents, home, lock } = this.#parts
    try {
      // No new clients, no socket; clients that wait for a process still get its end.
      server.close()
      await this.#ui[Symbol.asyncDispose]()
      await agents.close()
    } finally {
      for (const client of this.#clients) client.end()
      await home.close()
      lock[Symbol.dispose]()
    }
  }

  #scheduleIdleStop(): void {
    const { idleMs } = this.#options
    clearTimeout(this.#idle)
    if (idleMs === null || this.#isStopping) return
    this.#idle = setTimeout(() => {
      const { processes, clients, cron_jobs } = this.status()
      if (processes + clients + cron_jobs + this.#ui.streams === 0) void this.stop().catch(() => {})
      else this.#scheduleIdleStop()
    }, idleMs)
    // Only the server keeps the program running.
    this.#idle.unref()
  }
}
