import type { HttpSession } from './http-session.ts'

export interface SessionLimits {
  readonly maxSessions: number
  /** A session nobody is connected to is ended after this time. */
  readonly maxIdleMs: number
}

/** The sessions of a server by their ids. Clients that are killed never say goodbye: they are found by their silence. */
export class SessionTable implements AsyncDisposable {
  readonly #sessions = new Map<string, HttpSession>()
  readonly #limits: SessionLimits
  readonly #sweepTimer: NodeJS.Timeout

  constructor(limits: SessionLimits) {
    this.#limits = limits
    this.#sweepTimer = setInterval(() => void this.#endIdle(), limits.maxIdleMs / 2).unref()
  }

  get size(): number {
    return this.#sessions.size
  }

  get(id: string): HttpSession | undefined {
    return this.#sessions.get(id)
  }

  add(id: string, session: HttpSession): void {
    this.#sessions.set(id, session)
    session.ended.addEventListener('abort', () => this.#sessions.delete(id), { once: true })
  }

  /** Whether there is room for one more, after the one nobody used for longest had to leave. */
  async makeRoom(): Promise<boolean> {
    if (this.size < this.#limits.maxSessions) return true
    const [idlest] = this.#listIdle().sort((a, b) => a.idleSince - b.idleSince)
    await idlest?.session.close()
    return this.size < this.#limits.maxSessions
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweepTimer)
    await Promise.all([...this.#sessions.values()].map((session) => session.close()))
  }

  async #endIdle(): Promise<void> {
    const since = performance.now() - this.#limits.maxIdleMs
    const silent = this.#listIdle().filter(({ idleSince }) => idleSince <= since)
    await Promise.all(silent.map(({ session }) => session.close()))
  }

  #listIdle(): { readonly session: HttpSession; readonly idleSince: number }[] {
    return [...this.#sessions.values()].flatMap((session) => {
      const { idleSince } = session
      return idleSince === undefined ? [] : [{ session, idleSince }]
    })
  }
}
