import type { HttpSession } from './http-session.ts'

export interface SessionLimits {
  readonly maxSessions: number
  /** Time after which a session without a connection is ended. */
  readonly maxIdleMs: number
}

/** Sessions of a server by id. Ends idle ones, because killed clients never close theirs. */
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

  /** Evicts the longest idle session if needed; false if there is no room. */
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
    const latest = performance.now() - this.#limits.maxIdleMs
    const expired = this.#listIdle().filter(({ idleSince }) => idleSince <= latest)
    await Promise.all(expired.map(({ session }) => session.close()))
  }

  #listIdle(): { readonly session: HttpSession; readonly idleSince: number }[] {
    return [...this.#sessions.values()].flatMap((session) => {
      const { idleSince } = session
      return idleSince === undefined ? [] : [{ session, idleSince }]
    })
  }
}
