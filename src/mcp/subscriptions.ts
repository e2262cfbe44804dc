import { ProtocolError, ProtocolErrorCode, type SubscriptionFilter } from '@modelcontextprotocol/server'
import { formatError } from './client-error.ts'
import type { SessionContext } from './mcp-feature.ts'
import type { ResourceSource } from './resource-source.ts'
import { Throttle } from './throttle.ts'

/** Interval of notifications: one for all changes in it, since an import has thousands. */
const INTERVAL_MS = 100
const MAX_SUBSCRIPTIONS = 1000

/** Subscriptions of one client. Nothing is watched before the first one. */
export class Subscriptions {
  readonly #source: ResourceSource
  readonly #session: SessionContext
  readonly #updates = new Map<string, Throttle>()
  readonly #list: Throttle
  /** Number of streams of notifications that ask for a resource. */
  readonly #streams = new Map<string, number>()
  #isFollowing = false

  constructor(source: ResourceSource, session: SessionContext) {
    this.#source = source
    this.#session = session
    this.#list = this.#createThrottle(() => session.server.sendResourceListChanged())
  }

  /** Adds a subscription; duplicates notify once. */
  add(uri: string): void {
    this.#source.assertKnown(uri)
    if (this.#updates.has(uri)) return
    if (this.#updates.size >= MAX_SUBSCRIPTIONS) {
      const advice = 'subscribe to a directory instead of its files'
      throw new ProtocolError(
        ProtocolErrorCode.InvalidRequest,
        `there are ${MAX_SUBSCRIPTIONS} subscriptions; ${advice}`,
      )
    }
    const notify = () => this.#session.server.sendResourceUpdated({ uri })
    this.#updates.set(uri, this.#createThrottle(notify))
    this.followList()
  }

  /** Follows what a stream of notifications asks for, until it ends. Resources that do not exist never change. */
  listen(
    { resourceSubscriptions = [], resourcesListChanged = false }: SubscriptionFilter,
    signal: AbortSignal,
  ): void {
    if (resourcesListChanged) this.followList()
    const known = [...new Set(resourceSubscriptions)].filter((uri) => this.#tryAdd(uri))
    for (const uri of known) {
      this.#streams.set(uri, (this.#streams.get(uri) ?? 0) + 1)
    }
    signal.addEventListener(
      'abort',
      () => {
        for (const uri of known) this.#leave(uri)
      },
      { once: true },
    )
  }

  #tryAdd(uri: string): boolean {
    try {
      this.add(uri)
      return true
    } catch (error) {
      if (error instanceof ProtocolError) return false
      throw error
    }
  }

  #leave(uri: string): void {
    const left = (this.#streams.get(uri) ?? 1) - 1
    if (left > 0) this.#streams.set(uri, left)
    else if (this.#streams.delete(uri)) this.remove(uri)
  }

  /** Notifies of added and removed resources from now on; only needed once the client has listed them. */
  followList(): void {
    if (this.#isFollowing) return
    this.#isFollowing = true
    void this.#follow()
  }

  remove(uri: string): void {
    this.#updates.get(uri)?.stop()
    this.#updates.delete(uri)
  }

  async #follow(): Promise<void> {
    const { signal, log } = this.#session
    try {
      for await (const change of this.#source.changes(signal)) {
        for (const [uri, pace] of this.#updates) if (change.affects(uri)) pace.request()
        if (change.isOfList) this.#list.request()
      }
    } catch (error) {
      if (signal.aborted) return
      await log.write('error', `changes of resources are no longer reported: ${formatError(error)}`)
    } finally {
      if (signal.aborted) this.#stop()
    }
  }

  #stop(): void {
    this.#list.stop()
    for (const pace of this.#updates.values()) pace.stop()
  }

  #createThrottle(notify: () => Promise<void>): Throttle {
    // A disconnected client needs no notification: its session is about to end.
    return new Throttle(INTERVAL_MS, () => notify().catch(() => {}))
  }
}
