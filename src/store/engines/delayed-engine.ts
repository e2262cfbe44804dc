import { setImmediate } from 'node:timers/promises'
import type {
  Batch,
  Engine,
  EngineUsage,
  JournalRow,
  MaybePromise,
  ReadBatch,
  ReadBatchResult,
  RecordRow,
} from '../engine.ts'
import type { LocalCache } from '../local-cache.ts'
import { chain } from '../maybe-promise.ts'
import type { SegmentStore } from '../segments/segment-store.ts'
import type { SessionRegistry, SessionRegistryEntry } from '../sessions/session-registry.ts'

export interface DelayedEngineOptions {
  /**
   * True to behave like an engine that is notified of every commit of others: `changeCount` returns without a pause, and
   * leaves the engine's own commits out.
   */
  readonly isNotified?: boolean
  readonly localCache?: LocalCache
}

/**
 * Wraps an engine so that it behaves as if remote: every result is a promise, and each call runs in a later turn of the
 * event loop. For tests of code that waits for an engine.
 */
export class DelayedEngine implements Engine {
  readonly name: string
  readonly sessionRegistry: SessionRegistry | undefined
  readonly localCache: LocalCache | undefined
  readonly segments: SegmentStore | undefined
  readonly #inner: Engine

  readonly #isNotified: boolean

  /** Changes by its own commits, which a notified engine does not count. */
  #ownChanges = 0

  constructor(inner: Engine, { isNotified = false, localCache }: DelayedEngineOptions = {}) {
    this.name = `delayed ${inner.name}`
    this.#inner = inner
    this.segments = inner.segments
    this.#isNotified = isNotified
    this.localCache = localCache
    this.sessionRegistry = inner.sessionRegistry && new DelayedSessionRegistry(inner.sessionRegistry)
  }

  readPage(id: number): Promise<Uint8Array | undefined> {
    return runLater(() => this.#inner.readPage(id))
  }

  readBlob(id: number): Promise<Uint8Array | undefined> {
    return runLater(() => this.#inner.readBlob(id))
  }

  findBlob(hash: Uint8Array): Promise<number | undefined> {
    return runLater(() => this.#inner.findBlob(hash))
  }

  readRecord(key: string): Promise<Uint8Array | undefined> {
    return runLater(() => this.#inner.readRecord(key))
  }

  readBatch(batch: ReadBatch): Promise<ReadBatchResult> {
    return runLater(async () => ({
      pages: await Promise.all(batch.pages.map((id) => this.#inner.readPage(id))),
      blobs: await Promise.all(batch.blobs.map((id) => this.#inner.readBlob(id))),
      hashes: await Promise.all(batch.hashes.map((hash) => this.#inner.findBlob(hash))),
      journals: await Promise.all(
        batch.journals.map(({ vault, after, limit }) => this.#inner.readJournal(vault, after, limit)),
      ),
      records: await Promise.all(batch.records.map((key) => this.#inner.readRecord(key))),
    }))
  }

  listRecords(prefix: string): Promise<readonly RecordRow[]> {
    return runLater(() => this.#inner.listRecords(prefix))
  }

  readJournal(vault: number, after: number, limit: number): Promise<readonly JournalRow[]> {
    return runLater(() => this.#inner.readJournal(vault, after, limit))
  }

  listPages(after: number, limit: number): Promise<readonly number[]> {
    return runLater(() => this.#inner.listPages(after, limit))
  }

  listBlobs(after: number, limit: number): Promise<readonly number[]> {
    return runLater(() => this.#inner.listBlobs(after, limit))
  }

  usage(): Promise<EngineUsage> {
    return runLater(() => this.#inner.usage())
  }

  changeCount(): MaybePromise<number> {
    if (!this.#isNotified) return runLater(() => this.#inner.changeCount())
    return chain(this.#inner.changeCount(), (changes) => changes - this.#ownChanges)
  }

  commit(batch: Batch): Promise<boolean> {
    if (!this.#isNotified) return runLater(() => this.#inner.commit(batch))
    // Without a pause, so that nobody else commits in between.
    return runLater(() =>
      chain(this.#inner.changeCount(), (before) =>
        chain(this.#inner.commit(batch), (isAccepted) =>
          chain(this.#inner.changeCount(), (after) => {
            this.#ownChanges += after - before
            return isAccepted
          }),
        ),
      ),
    )
  }

  shrink(): Promise<number> {
    return runLater(() => this.#inner.shrink?.() ?? 0)
  }

  sync(): Promise<void> {
    return runLater(() => this.#inner.sync())
  }

  close(): Promise<void> {
    return runLater(() => this.#inner.close())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

class DelayedSessionRegistry implements SessionRegistry {
  readonly #inner: SessionRegistry

  constructor(inner: SessionRegistry) {
    this.#inner = inner
  }

  publish(id: string, text: string): Promise<boolean> {
    return runLater(() => this.#inner.publish(id, text))
  }

  remove(id: string): Promise<void> {
    return runLater(() => this.#inner.remove(id))
  }

  listIds(): Promise<readonly string[]> {
    return runLater(() => this.#inner.listIds())
  }

  listEntries(): Promise<readonly SessionRegistryEntry[]> {
    return runLater(() => this.#inner.listEntries())
  }
}

/** Runs a call in a later turn. Immediates run in the order of the calls, so batches keep their order. */
async function runLater<T>(call: () => MaybePromise<T>): Promise<T> {
  await setImmediate()
  return call()
}
