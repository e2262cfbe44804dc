import { createProcessTag } from '../../machine/index.ts'
import type { MaybePromise } from '../engine.ts'
import {
  collectHeldItems,
  type HeldItems,
  type Holdable,
  holdsNothing,
  isCollection,
  type SessionEntry,
} from './session-entry.ts'
import type { SessionRegistry } from './session-registry.ts'

/** How long a collection waits for an answer, about. */
const ANSWER_INTERVAL_MS = 20
/** How long after its last snapshot a session counts as busy. */
const IDLE_AFTER_MS = 1000
/** How often a session at rest says that it still holds what it shows. */
const HEARTBEAT_MS = 10_000
/** How long an entry counts of which nobody can say whether its process lives: that of another machine. */
export const LEASE_MS = 60_000

/** Says that something is used no more. */
export interface Hold {
  release(): void
}

/** A hold that its owner dropped without releasing it ends when the owner is garbage-collected. */
type HoldEntry = WeakRef<Holdable>

/**
 * One opener of a home, as collections in other processes see it. Before it takes a snapshot it shows that it is busy;
 * while it is, it answers every collection with all it holds. At rest it shows what it holds, and nobody has to wait for
 * it. So a short read costs nothing, and many short walks one entry on the board.
 */
export class StoreSession {
  readonly id: string = createProcessTag()
  readonly #registry: SessionRegistry | undefined
  readonly #holds = new Set<HoldEntry>()
  /** Those of them that a collection may have taken away, since it had to do without an answer. */
  readonly #lostHolds = new Set<HoldEntry>()
  /** Whether it has an entry on the board. */
  #isPublished = false
  #isBusy = false
  #publishedText = ''
  #lastPublished = 0
  #publishing: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #lastReadBegun = 0
  #lastAnswered = 0

  /** @param board where it shows what it holds; undefined if nobody else can have the home open. */
  constructor(board: SessionRegistry | undefined) {
    this.#registry = board
  }

  /** Called before the root of a snapshot is read: from here on collections wait for an answer. */
  beginRead(): MaybePromise<void> {
    if (this.#registry === undefined) return
    this.#lastReadBegun = performance.now()
    if (this.#isBusy) return this.#publishing
    this.#isBusy = true
    this.#schedule(ANSWER_INTERVAL_MS)
    return this.#publishEntry([])
  }

  /**
   * Keeps what somebody uses from collection, until it is released or nobody has it any more. Of what is read, `enter`
   * comes first; without that, it is shown at once.
   */
  hold(held: Holdable): Hold {
    const entry = new WeakRef(held)
    this.#holds.add(entry)
    if (!this.#isBusy && !holdsNothing(collectHeldItems([held], false))) this.#tryPublish()
    // The closure keeps `held` alive for as long as somebody keeps the hold.
    return { release: () => this.#release(entry, held) }
  }

  /** Shows what it holds by now, for a session at rest; one that is busy is asked. */
  publish(): MaybePromise<void> {
    if (this.#registry === undefined || this.#isBusy) return
    this.#schedule(HEARTBEAT_MS)
    return this.#publishEntry([])
  }

  /** Called when what is held at rest has changed: shows more at once, and less in a while. */
  updateHolds(isMore: boolean): void {
    if (this.#isBusy) return
    if (isMore) this.#tryPublish()
    else if (this.#isPublished) this.#schedule(IDLE_AFTER_MS)
  }

  /** Everything that is held here; for others, also what somebody may be about to read. */
  listHeldItems(isBusy = false): HeldItems {
    return collectHeldItems(this.#listLiveHolds(), isBusy)
  }

  /** Answers collections that ask, now and then: called with each page, for a walk may leave timers no turn. */
  answerIfDue(): void {
    if (this.#isBusy && performance.now() - this.#lastAnswered > ANSWER_INTERVAL_MS) this.#tryAnswer()
  }

  /** Whether something it still holds may have been collected because it did not answer in time. */
  hasLostHolds(): MaybePromise<boolean> {
    const answered = this.#answer()
    const look = () => {
      for (const _ of this.#listLiveHolds());
      return this.#lostHolds.size > 0
    }
    return answered instanceof Promise ? answered.then(look) : look()
  }

  async close(): Promise<void> {
    this.#stop()
    await this.#publishing
    if (this.#isPublished) await this.#registry?.remove(this.id)
    this.#isPublished = false
  }

  #release(entry: HoldEntry, _held: Holdable): void {
    this.#holds.delete(entry)
    this.#lostHolds.delete(entry)
    this.updateHolds(false)
  }

  #tryPublish(): void {
    const shown = this.publish()
    if (shown instanceof Promise) shown.catch(() => {})
  }

  *#listLiveHolds(): Generator<Holdable> {
    for (const entry of this.#holds) {
      const held = entry.deref()
      if (held !== undefined) yield held
      else {
        this.#holds.delete(entry)
        this.#lostHolds.delete(entry)
      }
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
      // The board cannot be read: the collection goes on without an answer.
    }
  }

  #answer(): MaybePromise<void> {
    if (this.#registry === undefined || this.#publishing !== undefined) return this.#publishing
    this.#lastAnswered = performance.now()
    const ids = this.#registry.listIds()
    return ids instanceof Promise
      ? ids.then((found) => this.#answerCollections(found))
      : this.#answerCollections(ids)
  }

  #answerCollections(ids: readonly string[]): MaybePromise<void> {
    if (this.#isPublished && !ids.includes(this.id)) {
      // A collection could not wait any longer.
      for (const entry of this.#holds) this.#lostHolds.add(entry)
    }
    const asking = ids.filter(isCollection)
    if (this.#isBusy && performance.now() - this.#lastReadBegun < IDLE_AFTER_MS)
      return asking.length > 0 ? this.#publishEntry(asking) : undefined
    return this.#becomeIdle()
  }

  #becomeIdle(): MaybePromise<void> {
    this.#stop()
    if (!holdsNothing(this.listHeldItems())) return this.publish()
    this.#isPublished = false
    return this.#registry?.remove(this.id)
  }

  #publishEntry(answered: readonly string[]): MaybePromise<void> {
    const entry: SessionEntry = { isBusy: this.#isBusy, answered, ...this.listHeldItems(this.#isBusy) }
    const text = JSON.stringify(entry)
    if (this.#isPublished && text === this.#publishedText && !this.#isDue()) return
    try {
      this.#isPublished = true
      this.#publishedText = text
      this.#lastPublished = performance.now()
      const posted = this.#registry?.publish(this.id, text)
      if (!(posted instanceof Promise)) return
      // On a full disk, or one that cannot be written, reading goes on without protection.
      this.#publishing = posted
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
