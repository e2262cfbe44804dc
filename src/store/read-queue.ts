import type { Engine, JournalRange, JournalRow, MaybePromise, ReadBatch } from './engine.ts'
import type { CacheEntry } from './local-cache.ts'

/** An engine that answers reads of several kinds in one trip. */
export type BatchEngine = Engine & Required<Pick<Engine, 'readBatch'>>

export function readsInBatches(engine: Engine): engine is BatchEngine {
  return engine.readBatch !== undefined
}

/**
 * Gathers all reads of one turn of the event loop and sends them to a remote engine in one trip. A page
 * or blob that is on its way is not asked for again, since neither ever changes.
 */
export class ReadQueue {
  readonly #engine: BatchEngine
  readonly #pages = new SingleFlight<Uint8Array | undefined>()
  readonly #blobs = new SingleFlight<Uint8Array | undefined>()
  #waiting: WaitingReads | undefined

  constructor(engine: BatchEngine) {
    this.#engine = engine
  }

  readPage(id: number): MaybePromise<Uint8Array | undefined> {
    return this.#engine.localCache?.get(id) ?? this.#pages.join(id, () => this.#wait().pages.add(id, id))
  }

  readBlob(id: number): MaybePromise<Uint8Array | undefined> {
    return this.#engine.localCache?.get(id) ?? this.#blobs.join(id, () => this.#wait().blobs.add(id, id))
  }

  findBlob(hash: Uint8Array): Promise<number | undefined> {
    return this.#wait().hashes.add(Buffer.from(hash).toString('base64'), hash)
  }

  readRecord(key: string): Promise<Uint8Array | undefined> {
    return this.#wait().records.add(key, key)
  }

  readJournal(vault: number, after: number, limit: number): Promise<readonly JournalRow[]> {
    return this.#wait().journals.add(`${vault} ${after} ${limit}`, { vault, after, limit })
  }

  /** Returns the reads of the next trip, which it schedules. */
  #wait(): WaitingReads {
    if (this.#waiting === undefined) {
      this.#waiting = new WaitingReads()
      // After everything that is ready in this turn: concurrent callers fault one after the other.
      setImmediate(() => this.#send())
    }
    return this.#waiting
  }

  #send(): void {
    const sent = this.#waiting
    this.#waiting = undefined
    if (sent !== undefined) void sent.settle(this.#engine)
  }
}

/** Shares a read between all who want its result while it is on its way. */
class SingleFlight<V> {
  readonly #pending = new Map<number, Promise<V>>()

  join(id: number, start: () => Promise<V>): Promise<V> {
    const pending = this.#pending.get(id)
    if (pending !== undefined) return pending
    const read = start().finally(() => this.#pending.delete(id))
    this.#pending.set(id, read)
    return read
  }
}

/** Reads that wait for the same trip. */
class WaitingReads {
  readonly pages = new WaitingKind<number, Uint8Array | undefined>()
  readonly blobs = new WaitingKind<number, Uint8Array | undefined>()
  readonly hashes = new WaitingKind<Uint8Array, number | undefined>()
  readonly records = new WaitingKind<string, Uint8Array | undefined>()
  readonly journals = new WaitingKind<JournalRange, readonly JournalRow[]>()

  /** Sends them, and settles the promise of each. */
  async settle(engine: BatchEngine): Promise<void> {
    try {
      const batch = this.#toBatch()
      const found = await engine.readBatch(batch)
      engine.localCache?.put([
        ...listEntries(batch.pages, found.pages),
        ...listEntries(batch.blobs, found.blobs),
      ])
      this.pages.resolve(found.pages)
      this.blobs.resolve(found.blobs)
      this.hashes.resolve(found.hashes)
      this.records.resolve(found.records)
      this.journals.resolve(found.journals)
    } catch (error) {
      for (const kind of [this.pages, this.blobs, this.hashes, this.records, this.journals])
        kind.reject(error)
    }
  }

  #toBatch(): ReadBatch {
    const { pages, blobs, hashes, records, journals } = this
    return {
      pages: pages.keys,
      blobs: blobs.keys,
      hashes: hashes.keys,
      records: records.keys,
      journals: journals.keys,
    }
  }
}

/** Pairs ids with the bytes that were found for them, for the cache of this machine. */
function listEntries(ids: readonly number[], found: readonly (Uint8Array | undefined)[]): CacheEntry[] {
  return ids.flatMap((id, index) => {
    const bytes = found[index]
    return bytes === undefined ? [] : [{ id, bytes }]
  })
}

/** Waiting reads of one kind, each key once. */
class WaitingKind<K, V> {
  readonly keys: K[] = []
  readonly #reads: PromiseWithResolvers<V>[] = []
  readonly #byIdentity = new Map<string | number, Promise<V>>()

  add(identity: string | number, key: K): Promise<V> {
    const waiting = this.#byIdentity.get(identity)
    if (waiting !== undefined) return waiting
    const read = Promise.withResolvers<V>()
    this.keys.push(key)
    this.#reads.push(read)
    this.#byIdentity.set(identity, read.promise)
    return read.promise
  }

  /** Resolves the reads with one value for each key, in their order. RangeError for another number of values. */
  resolve(values: readonly V[]): void {
    if (values.length !== this.keys.length)
      throw new RangeError(`an engine returned ${values.length} values for ${this.keys.length} reads`)
    for (const [index, value] of values.entries()) this.#reads[index]?.resolve(value)
  }

  reject(error: unknown): void {
    for (const read of this.#reads) read.reject(error)
  }
}
