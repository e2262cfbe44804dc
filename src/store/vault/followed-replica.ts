import type { EngineReader } from '../engine-reader.ts'
import type { Replica } from './replica.ts'

/** Never the change count of a store. */
const UNKNOWN = -1

/** Keeps a replica up to date with commits of other processes, and notifies listeners of news. */
export class FollowedReplica {
  readonly replica: Replica
  readonly #reader: EngineReader
  /** Change count of the store when the replica last caught up. */
  #seenChangeCount = UNKNOWN
  readonly #listeners = new Set<() => void>()

  constructor(replica: Replica, reader: EngineReader) {
    this.replica = replica
    this.#reader = reader
  }

  /** False until the first refresh and after `invalidate`: quota and head may have changed. */
  get isKnown(): boolean {
    return this.#seenChangeCount !== UNKNOWN
  }

  /** Catches up if the store changed since the last time. Throws ENOENT if another process deleted the vault. */
  refresh(): void {
    const changes = this.#reader.getChangeCount(this.replica.head.id)
    if (changes === this.#seenChangeCount) return
    const hasNews = this.replica.catchUp()
    this.#seenChangeCount = changes
    if (hasNews) this.notify()
  }

  /** Makes the next refresh read the store. */
  invalidate(): void {
    this.#seenChangeCount = UNKNOWN
  }

  /** Goes back to the stored tree: operations that count as committed may be stored otherwise, or not at all. */
  reload(): void {
    this.invalidate()
    this.replica.resetToStored()
  }

  /** Calls a listener after each commit of this process, and after each refresh with news. Returns its removal. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  notify(): void {
    for (const listener of this.#listeners) listener()
  }
}
