import { LanguageServer } from './language-server.ts'
import type { LanguageServerSpec } from './language-servers.ts'
import type { Checkout } from './workspace-files.ts'

export interface ServerPoolOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** A server that nobody asks anything for so long is ended. */
  readonly idleMs: number
}

interface Running {
  readonly directory: string
  readonly server: LanguageServer
  users: number
  idle: NodeJS.Timeout | undefined
}

/** The language servers at work: one for each language and directory, from its first use until it is idle. */
export class ServerPool {
  readonly #options: ServerPoolOptions
  readonly #running = new Map<string, Running>()
  /** Those that are on their way out included. */
  readonly #alive = new Set<Running>()

  constructor(options: ServerPoolOptions) {
    this.#options = options
  }

  /** Does something with a server, which is started if it does not run. */
  async use<Result>(
    spec: LanguageServerSpec,
    checkout: Checkout,
    work: (server: LanguageServer) => Promise<Result>,
  ): Promise<Result> {
    const key = JSON.stringify([spec.name, checkout.directory])
    const running = this.#living(key) ?? this.#start(key, spec, checkout)
    clearTimeout(running.idle)
    running.users++
    try {
      return await work(running.server)
    } finally {
      running.users--
      if (running.users === 0) this.#letIdle(key, running)
    }
  }

  /** Ends the servers of a directory. */
  async release(directory: string): Promise<void> {
    await this.#end((running) => running.directory === directory)
  }

  async close(): Promise<void> {
    await this.#end(() => true)
  }

  #living(key: string): Running | undefined {
    const running = this.#running.get(key)
    return running?.server.isGone ? undefined : running
  }

  #start(key: string, spec: LanguageServerSpec, checkout: Checkout): Running {
    const server = new LanguageServer({ spec, checkout, env: this.#options.env })
    const running: Running = { directory: checkout.directory, server, users: 0, idle: undefined }
    this.#running.set(key, running)
    this.#alive.add(running)
    void server.ended.then(() => {
      this.#forget(key, running)
      this.#alive.delete(running)
    })
    return running
  }

  #forget(key: string, running: Running): void {
    clearTimeout(running.idle)
    if (this.#running.get(key) === running) this.#running.delete(key)
  }

  #letIdle(key: string, running: Running): void {
    running.idle = setTimeout(() => {
      this.#forget(key, running)
      void running.server.close()
    }, this.#options.idleMs)
    // A server that waits is no reason to stay.
    running.idle.unref()
  }

  async #end(isMeant: (running: Running) => boolean): Promise<void> {
    for (const [key, running] of this.#running) if (isMeant(running)) this.#forget(key, running)
    await Promise.all([...this.#alive].filter(isMeant).map(({ server }) => server.close()))
  }
}
