import { ProtocolError, ProtocolErrorCode, type SubscriptionFilter } from '@modelcontextprotocol/server'
import { formatError } from './client-error.ts'
import type { SessionContext } from './mcp-feature.ts'
import type { ResourceSource } from './resource-source.ts'
import { Throttle } from './throttle.ts'

/** Interval of notifications: one for all changes in it, since an import has thousands. */
const INTERVAL_MS = 100
const MAX_SUBSCRIPTIONS = 1000

/**
 * Subscriptions of one client. Nothing is watched before the first one, or before the client has listed the resources.
 */
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

  /** Adds a subscription; duplicates notify once. ProtocolError for an invalid URI, or too many subscriptions. */
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

  /** Follows what a stream of notifications asks for, until it ends. Leaves out URIs that cannot be subscribed to. */
  listen(
    { resourceSubscriptions = [], resourcesListChanged = false }: SubscriptionFilter,
    signal: AbortSignal,
  ): void {
    if (resourcesListChanged) this.followList()
    const uris = [...new Set(resourceSubscriptions)].filter((uri) => this.#tryAdd(uri))
    for (const uri of uris) {
      this.#streams.set(uri, (this.#streams.get(uri) ?? 0) + 1)
    }
    signal.addEventListener(
      'abort',
      () => {
        for (const uri of uris) this.#releaseStream(uri)
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

  #releaseStream(uri: string): void {
    const remaining = (this.#streams.get(uri) ?? 1) - 1
    if (remaining > 0) this.#streams.set(uri, remaining)
    else if (this.#streams.delete(uri)) this.remove(uri)
  }

  /**
   * Follows changes from now on: of subscribed resources, and of the list, which a client needs once it has listed
   * them.
   */
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
        for (const [uri, throttle] of this.#updates) if (change.affects(uri)) throttle.request()
        if (change.affectsList) this.#list.request()
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
    for (const throttle of this.#updates.values()) throttle.stop()
  }

  #createThrottle(notify: () => Promise<void>): Throttle {
    // A disconnected client needs no notification: its session is about to end.
    return new Throttle(INTERVAL_MS, () => notify().catch(() => {}))
  }
}
