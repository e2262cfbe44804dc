import { commitOnce, createUnknownOutcomeError } from '../commit-once.ts'
import type { MaybePromise } from '../engine.ts'
import type { EngineReader } from '../engine-reader.ts'
import type { CommitQueue } from '../group-commit/commit-queue.ts'
import { chain } from '../maybe-promise.ts'
import type { CommitGate } from './commit-gate.ts'
import type { FollowedReplica } from './followed-replica.ts'
import { PageFlush, type PageFlushContext, type PageFlushOptions } from './page-flush.ts'
import type { Replica } from './replica.ts'

/** Number of journal rows after which the tree is flushed to pages: an open has to replay the rows. */
const FLUSH_AFTER_ROWS = 2000
/**
 * Number of further rows after which a failed flush is repeated: on a full disk, an attempt costs as much as a flush.
 */
const RETRY_FLUSH_AFTER_ROWS = 200

export interface PageFlusherContext extends PageFlushContext {
  readonly reader: EngineReader
}

/** Decides when a vault's tree is flushed to pages, and commits one flush at a time. */
export class PageFlusher {
  readonly #context: PageFlusherContext
  readonly #followed: FollowedReplica
  readonly #replica: Replica
  readonly #queue: CommitQueue
  readonly #gate: CommitGate
  #inProgress: Promise<void> | undefined
  /** Last row of the journal when a flush failed. */
  #failedSeq = Number.NEGATIVE_INFINITY

  constructor(context: PageFlusherContext, followed: FollowedReplica, queue: CommitQueue, gate: CommitGate) {
    this.#context = context
    this.#followed = followed
    this.#replica = followed.replica
    this.#queue = queue
    this.#gate = gate
  }

  /** The flush that waits for a remote engine. No operation is accepted meanwhile, or the flush might wait for ever. */
  get inProgress(): Promise<void> | undefined {
    return this.#inProgress
  }

  /** True if the journal has grown long, and no flush runs or has failed lately. */
  get isDue(): boolean {
    const { seq, head } = this.#replica
    if (this.#inProgress !== undefined || seq - head.seq < FLUSH_AFTER_ROWS) return false
    return seq - this.#failedSeq >= RETRY_FLUSH_AFTER_ROWS
  }

  /** Flushes the tree, once an earlier flush has ended; returns the id of the root page. */
  flush(options: PageFlushOptions = {}): MaybePromise<number> {
    if (this.#inProgress !== undefined) return this.#inProgress.then(() => this.flush(options))
    const flushed = this.#flushWhenIdle(options)
    if (!(flushed instanceof Promise)) return flushed
    const release = () => {
      this.#inProgress = undefined
    }
    this.#inProgress = flushed.then(release, release)
    return flushed
  }

  /** Flushes; false if that fails. The journal has everything, so a later flush is as good. */
  tryFlush(): MaybePromise<boolean> {
    const fail = () => {
      this.#failedSeq = this.#replica.seq
      return false
    }
    try {
      const flushed = this.flush()
      return flushed instanceof Promise ? flushed.then(() => true, fail) : true
    } catch {
      return fail()
    }
  }

  /**
   * Makes everything committed survive power loss, with a flush if that succeeds. Throws EUNKNOWN if the sync fails.
   */
  async sync(): Promise<void> {
    try {
      await this.flush({ durable: true })
    } catch (failure) {
      // The journal has everything, so it is enough to sync that.
      try {
        await this.#context.reader.engine.sync()
      } catch (cause) {
        throw createUnknownOutcomeError(failure, cause)
      }
    }
  }

  /** Flushes when no operation waits for its commit. */
  #flushWhenIdle(options: PageFlushOptions): MaybePromise<number> {
    if (!this.#queue.isIdle) return chain(this.#queue.drain(), () => this.#flushWhenIdle(options))
    const flush = new PageFlush(this.#context, this.#replica, options)
    const ready = this.#context.reader.run(() => {
      if (this.#queue.isIdle) this.#followed.refresh()
      flush.prepare()
    })
    return chain(ready, () => this.#commit(flush, options))
  }

  #commit(flush: PageFlush, options: PageFlushOptions): MaybePromise<number> {
    const batch = flush.createBatch()
    if (batch === null) return flush.root
    const settle = (isAccepted: boolean): MaybePromise<number | null> => {
      if (!isAccepted) return chain(this.#abandon(flush), () => null)
      this.#replica.markFlushed(flush.head)
      return flush.root
    }
    const fail = (error: unknown) =>
      chain(this.#abandon(flush), (): number => {
        throw error
      })
    const { reader } = this.#context
    const commit = () => commitOnce(reader, batch, () => flush.isStored(reader))
    const flushed = this.#gate.run<number | null>(commit, settle, fail)
    // Another process has flushed first. Its pages have the same files, and only they are stored.
    return chain(flushed, (root) => root ?? this.#flushWhenIdle(options))
  }

  /** Gives up a flush: resets to the stored tree and replays the journal. */
  #abandon(flush: PageFlush): MaybePromise<void> {
    flush.undo()
    this.#followed.reload()
    return this.#queue.replan()
  }
}
