import { ownMark } from '../../machine/index.ts'
import type { Answer } from '../engine.ts'
import type { SessionBoard } from './session-board.ts'
import {
  type Held,
  type HeldItems,
  isCollection,
  isNothing,
  listHeld,
  type SessionEntry,
} from './session-entry.ts'

/** How long a collection waits for an answer, about. */
const ANSWER_MS = 20
/** How long after its last snapshot a session counts as busy. */
const CALM_MS = 1000
/** How often a session at rest says that it still holds what it shows. */
const HEARTBEAT_MS = 10_000
/** How long an entry counts of which nobody can say whether its process lives: that of another machine. */
export const LEASE_MS = 60_000

/** Says that something is used no more. */
export interface Hold {
  release(): void
}

/** A hold that its owner dropped without releasing it ends when the owner is garbage-collected. */
type HoldEntry = WeakRef<Held>

/**
 * One opener of a home, as collections in other processes see it. Before it takes a snapshot it shows that it is busy;
 * while it is, it answers every collection with all it holds. At rest it shows what it holds, and nobody has to wait for
 * it. So a short read costs nothing, and many short walks one entry on the board.
 */
export class Session {
  readonly id: string = ownMark()
  readonly #board: SessionBoard | undefined
  readonly #holds = new Set<HoldEntry>()
  /** Those of them that a collection may have taken away, since it had to do without an answer. */
  readonly #lost = new Set<HoldEntry>()
  /** Whether it has an entry on the board. */
  #isShown = false
  #isBusy = false
  #shown = ''
  #lastPosted = 0
  #posting: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #lastEntered = 0
  #lastAnswered = 0

  /** @param board where it shows what it holds; undefined if nobody else can have the home open. */
  constructor(board: SessionBoard | undefined) {
    this.#board = board
  }

  /** Called before the root of a snapshot is read: from here on collections wait for an answer. */
  enter(): Answer<void> {
    if (this.#board === undefined) return
    this.#lastEntered = performance.now()
    if (this.#isBusy) return this.#posting
    this.#isBusy = true
    this.#schedule(ANSWER_MS)
    return this.#post([])
  }

  /**
   * Keeps what somebody uses from collection, until it is released or nobody has it any more. Of what is read, `enter`
   * comes first; without that, it is shown at once.
   */
  hold(held: Held): Hold {
    const entry = new WeakRef(held)
    this.#holds.add(entry)
    if (!this.#isBusy && !isNothing(listHeld([held], false))) this.#showQuietly()
    // The closure keeps `held` alive for as long as somebody keeps the hold.
    return { release: () => this.#release(entry, held) }
  }

  /** Shows what it holds by now, for a session at rest; one that is busy is asked. */
  show(): Answer<void> {
    if (this.#board === undefined || this.#isBusy) return
    this.#schedule(HEARTBEAT_MS)
    return this.#post([])
  }

  /** Called when what is held at rest has changed: shows more at once, and less in a while. */
  changed(isMore: boolean): void {
    if (this.#isBusy) return
    if (isMore) this.#showQuietly()
    else if (this.#isShown) this.#schedule(CALM_MS)
  }

  /** Everything that is held here; for others, also what somebody may be about to read. */
  list(isBusy = false): HeldItems {
    return listHeld(this.#live(), isBusy)
  }

  /** Answers collections that ask, now and then: called with each page, for a walk may leave timers no turn. */
  poll(): void {
    if (this.#isBusy && performance.now() - this.#lastAnswered > ANSWER_MS) this.#answerQuietly()
  }

  /** Whether something it still holds may have been collected because it did not answer in time. */
  hasLost(): Answer<boolean> {
    const answered = this.#answer()
    const look = () => {
      for (const _ of this.#live());
      return this.#lost.size > 0
    }
    return answered instanceof Promise ? answered.then(look) : look()
  }

  async close(): Promise<void> {
    this.#stop()
    await this.#posting
    if (this.#isShown) await this.#board?.withdraw(this.id)
    this.#isShown = false
  }

  #release(entry: HoldEntry, _held: Held): void {
    this.#holds.delete(entry)
    this.#lost.delete(entry)
    this.changed(false)
  }

  #showQuietly(): void {
    const shown = this.show()
    if (shown instanceof Promise) shown.catch(() => {})
  }

  *#live(): Generator<Held> {
    for (const entry of this.#holds) {
      const held = entry.deref()
      if (held !== undefined) yield held
      else {
        this.#holds.delete(entry)
        this.#lost.delete(entry)
      }
    }
  }

  #schedule(ms: number): void {
    clearInterval(this.#timer)
    this.#timer = setInterval(() => this.#answerQuietly(), ms).unref()
  }

  #stop(): void {
    this.#isBusy = false
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #answerQuietly(): void {
    try {
      const answered = this.#answer()
      if (answered instanceof Promise) answered.catch(() => {})
    } catch {
      // The board cannot be read: the collection goes on without an answer.
    }
  }

  #answer(): Answer<void> {
    if (this.#board === undefined || this.#posting !== undefined) return this.#posting
    this.#lastAnswered = performance.now()
    const ids = this.#board.ids()
    return ids instanceof Promise ? ids.then((found) => this.#answerTo(found)) : this.#answerTo(ids)
  }

  #answerTo(ids: readonly string[]): Answer<void> {
    if (this.#isShown && !ids.includes(this.id)) {
      // A collection could not wait any longer.
      for (const entry of this.#holds) this.#lost.add(entry)
    }
    const asking = ids.filter(isCollection)
    if (this.#isBusy && performance.now() - this.#lastEntered < CALM_MS)
      return asking.length > 0 ? this.#post(asking) : undefined
    return this.#rest()
  }

  #rest(): Answer<void> {
    this.#stop()
    if (!isNothing(this.list())) return this.show()
    this.#isShown = false
    return this.#board?.withdraw(this.id)
  }

  #post(answered: readonly string[]): Answer<void> {
    const entry: SessionEntry = { isBusy: this.#isBusy, answered, ...this.list(this.#isBusy) }
    const text = JSON.stringify(entry)
    if (this.#isShown && text === this.#shown && !this.#isDue()) return
    try {
      this.#isShown = true
      this.#shown = text
      this.#lastPosted = performance.now()
      const posted = this.#board?.post(this.id, text)
      if (!(posted instanceof Promise)) return
      // On a full disk, or one that cannot be written, reading goes on without protection.
      this.#posting = posted
        .catch(() => {})
        .finally(() => {
          this.#posting = undefined
        })
      return this.#posting
    } catch {
      this.#isShown = false
    }
  }

  #isDue(): boolean {
    return performance.now() - this.#lastPosted > HEARTBEAT_MS / 2
  }
}
