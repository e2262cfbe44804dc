import { createProcessTag } from '../../machine/index.ts'
import type { MaybePromise } from '../engine.ts'
import { chain } from '../maybe-promise.ts'
import {
  collectHeldItems,
  type HeldItems,
  type Holdable,
  holdsNothing,
  isCollection,
  type SessionEntry,
} from './session-entry.ts'
import type { SessionRegistry } from './session-registry.ts'

/** Default interval at which a busy session looks for collections to answer. */
const ANSWER_INTERVAL_MS = 20
/** Time a session stays busy after its last snapshot. */
const IDLE_AFTER_MS = 1000
/** Interval at which an idle session renews its entry. */
const HEARTBEAT_MS = 10_000
/** Lease of an entry whose process is unknown here, such as one on another machine. */
export const LEASE_MS = 60_000

/** Protection of an object from collection. */
export interface Hold {
  /** Ends the protection. */
  release(): void
}

/** A held object. Its hold ends when the object is garbage-collected, if nobody has released it. */
type HoldEntry = WeakRef<Holdable>

/**
 * One opener of a home, as collections in other processes see it. Before a snapshot it publishes that it is busy;
 * while busy, it answers every collection with all it holds. When idle it publishes its holds, and no collection
 * waits for it. So a short read costs nothing, and many short walks cost one entry.
 */
export class StoreSession {
  readonly id: string = createProcessTag()
  readonly #registry: SessionRegistry | undefined
  readonly #answerIntervalMs: number
  readonly #holds = new Set<HoldEntry>()
  /** Holds that a collection may have ignored, since this session did not answer in time. */
  readonly #lostHolds = new Set<HoldEntry>()
  readonly #collected = new FinalizationRegistry<HoldEntry>((entry) => this.#forget(entry))
  /** True while it has an entry in the registry. */
  #isPublished = false
  #isBusy = false
  #publishedText = ''
  #lastPublished = 0
  #publishing: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #lastReadStartedAt = 0
  #lastAnswered = 0

  /** @param registry where it publishes its holds; undefined if no other process can open the home. */
  constructor(registry: SessionRegistry | undefined) {
    this.#registry = registry
    this.#answerIntervalMs = registry?.answerIntervalMs ?? ANSWER_INTERVAL_MS
  }

  /** Called before the root of a snapshot is read: from here on collections wait for an answer. */
  beginRead(): MaybePromise<void> {
    if (this.#registry === undefined) return
    this.#lastReadStartedAt = performance.now()
    if (this.#isBusy) return this.#publishing
    this.#isBusy = true
    this.#schedule(this.#answerIntervalMs)
    return this.#publishEntry([])
  }

  /**
   * Protects an object from collection until it is released or unreachable. Reads call `beginRead` first; otherwise
   * the hold is published immediately.
   */
  hold(held: Holdable): Hold {
    const entry = new WeakRef(held)
    this.#holds.add(entry)
    this.#collected.register(held, entry)
    if (!this.#isBusy && !holdsNothing(collectHeldItems([held], false))) this.#tryPublish()
    // The closure keeps `held` alive as long as the caller keeps the hold.
    return { release: () => this.#release(entry, held) }
  }

  /** Runs work on stored trees that records may stop naming meanwhile; the work holds each tree it finds. */
  async withHolds<T>(work: (hold: (root: number) => number) => Promise<T>): Promise<T> {
    await this.beginRead()
    const roots: number[] = []
    const held = { listStoredRoots: () => roots }
    const hold = this.hold(held)
    try {
      return await work((root) => {
        roots.push(root)
        // After long work the session is idle again, and collections do not query it.
        this.updateHolds(true)
        return root
      })
    } finally {
      hold.release()
    }
  }

  /** Publishes the holds of an idle session; a busy one is queried. */
  publish(): MaybePromise<void> {
    if (this.#registry === undefined || this.#isBusy) return
    this.#schedule(HEARTBEAT_MS)
    return this.#publishEntry([])
  }

  /** Called when the holds of an idle session change: publishes additions immediately, removals later. */
  updateHolds(isMore: boolean): void {
    if (this.#isBusy) return
    if (isMore) this.#tryPublish()
    else if (this.#isPublished) this.#schedule(IDLE_AFTER_MS)
  }

  /** Returns everything held; if busy, also trees that a read may be about to open. */
  listHeldItems(isBusy = false): HeldItems {
    return collectHeldItems(this.#listLiveHolds(), isBusy)
  }

  /** Answers pending collections from time to time. Called with each page, as a walk may not yield to timers. */
  answerIfDue(): void {
    if (this.#isBusy && performance.now() - this.#lastAnswered > this.#answerIntervalMs) this.#tryAnswer()
  }

  /** Reports whether a collection may have removed something still held, since this session did not answer in time. */
  hasLostHolds(): MaybePromise<boolean> {
    // While it publishes, an answer would not look whether its entry is still there.
    if (this.#publishing !== undefined) return this.#publishing.then(() => this.hasLostHolds())
    return chain(this.#answer(), () => {
      for (const _ of this.#listLiveHolds());
      return this.#lostHolds.size > 0
    })
  }

  async close(): Promise<void> {
    this.#stop()
    await this.#publishing
    if (this.#isPublished) await this.#registry?.remove(this.id)
    this.#isPublished = false
  }

  #release(entry: HoldEntry, _held: Holdable): void {
    this.#forget(entry)
    this.updateHolds(false)
  }

  #forget(entry: HoldEntry): void {
    this.#holds.delete(entry)
    this.#lostHolds.delete(entry)
  }

  #tryPublish(): void {
    const published = this.publish()
    if (published instanceof Promise) published.catch(() => {})
  }

  *#listLiveHolds(): Generator<Holdable> {
    for (const entry of this.#holds) {
      const held = entry.deref()
      if (held !== undefined) yield held
      else this.#forget(entry)
    }
  }

  #schedule(ms: number): void {
    clearInterval(this.#timer)
    this.#timer = setInterval(() => this.#tryAnswer(), ms).unref()
  }

  #stop(): void {
    this.#isBusy = false
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #tryAnswer(): void {
    try {
      const answered = this.#answer()
      if (answered instanceof Promise) answered.catch(() => {})
    } catch {
      // The registry cannot be read: the collection proceeds without an answer.
    }
  }

  /** Answers the collections that are listed now, or ends the busy time. */
  #answer(): MaybePromise<void> {
    if (this.#registry === undefined || this.#publishing !== undefined) return this.#publishing
    this.#lastAnswered = performance.now()
    const ids = this.#registry.listIds()
    return ids instanceof Promise
      ? ids.then((found) => this.#answerCollections(found))
      : this.#answerCollections(ids)
  }

  #answerCollections(ids: readonly string[]): MaybePromise<void> {
    if (this.#isPublished && !ids.includes(this.id)) this.#loseHolds()
    const collections = ids.filter(isCollection)
    if (this.#isBusy && performance.now() - this.#lastReadStartedAt < IDLE_AFTER_MS)
      return collections.length > 0 ? this.#publishEntry(collections) : undefined
    return this.#becomeIdle()
  }

  /** A collection stopped waiting and removed the entry: it may have removed what is held. */
  #loseHolds(): void {
    for (const entry of this.#holds) this.#lostHolds.add(entry)
  }

  #becomeIdle(): MaybePromise<void> {
    this.#stop()
    if (!holdsNothing(this.listHeldItems())) return this.publish()
    this.#isPublished = false
    return this.#registry?.remove(this.id)
  }

  /** Publishes what the session holds, unless the registry has the same text already. */
  #publishEntry(answered: readonly string[]): MaybePromise<void> {
    // Only an answer of a busy session counts, so only an answer needs what a read may be about to open.
    const items = this.listHeldItems(this.#isBusy && answered.length > 0)
    const entry: SessionEntry = { isBusy: this.#isBusy, answered, ...items }
    const text = JSON.stringify(entry)
    if (this.#isPublished && text === this.#publishedText && !this.#isDue()) return
    const wasPublished = this.#isPublished
    const check = (isNew: boolean | undefined) => {
      if (wasPublished && isNew === true) this.#loseHolds()
    }
    try {
      this.#isPublished = true
      this.#publishedText = text
      this.#lastPublished = performance.now()
      const published = this.#registry?.publish(this.id, text)
      if (!(published instanceof Promise)) return check(published)
      // On a full or read-only disk, reads continue without protection.
      this.#publishing = published
        .then(check)
        .catch(() => {})
        .finally(() => {
          this.#publishing = undefined
        })
      return this.#publishing
    } catch {
      this.#isPublished = false
    }
  }

  #isDue(): boolean {
    return performance.now() - this.#lastPublished > HEARTBEAT_MS / 2
  }
}
