import { LanguageServer } from './language-server.ts'
import type { LanguageServerSpec } from './language-servers.ts'
import type { WorkspaceCheckout } from './workspace-files.ts'

export interface ServerPoolOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Idle time after which a server is ended. */
  readonly idleMs: number
}

interface PooledServer {
  /** Id of the checkout: its own, or its directory. */
  readonly id: string
  readonly server: LanguageServer
  users: number
  idleTimer: NodeJS.Timeout | undefined
}

/** The running language servers: one for each spec and checkout, from its first use until it has been idle. */
export class ServerPool {
  readonly #options: ServerPoolOptions
  readonly #running = new Map<string, PooledServer>()
  /** All servers with a process, including those shutting down. */
  readonly #alive = new Set<PooledServer>()

  constructor(options: ServerPoolOptions) {
    this.#options = options
  }

  /** Runs a function with a server, which is started if needed. */
  async use<Result>(
    spec: LanguageServerSpec,
    checkout: WorkspaceCheckout,
    work: (server: LanguageServer) => Promise<Result>,
  ): Promise<Result> {
    const key = JSON.stringify([spec.name, getCheckoutId(checkout)])
    const running = this.#findAlive(key) ?? this.#start(key, spec, checkout)
    clearTimeout(running.idleTimer)
    running.users++
    try {
      return await work(running.server)
    } finally {
      running.users--
      if (running.users === 0) this.#scheduleStop(key, running)
    }
  }

  /** Ends the servers of the checkout with this id. */
  async release(id: string): Promise<void> {
    await this.#closeMatching((running) => running.id === id)
  }

  async close(): Promise<void> {
    await this.#closeMatching(() => true)
  }

  #findAlive(key: string): PooledServer | undefined {
    const running = this.#running.get(key)
    return running?.server.isGone ? undefined : running
  }

  #start(key: string, spec: LanguageServerSpec, checkout: WorkspaceCheckout): PooledServer {
    const server = new LanguageServer({ spec, checkout, env: this.#options.env })
    const id = getCheckoutId(checkout)
    const running: PooledServer = { id, server, users: 0, idleTimer: undefined }
    this.#running.set(key, running)
    this.#alive.add(running)
    void server.ended.then(() => {
      this.#forget(key, running)
      this.#alive.delete(running)
    })
    return running
  }

  #forget(key: string, running: PooledServer): void {
    clearTimeout(running.idleTimer)
    if (this.#running.get(key) === running) this.#running.delete(key)
  }

  #scheduleStop(key: string, running: PooledServer): void {
    running.idleTimer = setTimeout(() => {
      this.#forget(key, running)
      void running.server.close()
    }, this.#options.idleMs)
    // An idle server must not keep the process running.
    running.idleTimer.unref()
  }

  async #closeMatching(isMatch: (running: PooledServer) => boolean): Promise<void> {
    for (const [key, running] of this.#running) if (isMatch(running)) this.#forget(key, running)
    await Promise.all([...this.#alive].filter(isMatch).map(({ server }) => server.close()))
  }
}

function getCheckoutId({ id, directory }: WorkspaceCheckout): string {
  return id ?? directory
}
