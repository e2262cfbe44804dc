import { VfsError } from '../vfs/index.ts'
import type { Engine, JournalRow, MaybePromise, RecordRow } from './engine.ts'
import { ClosedEngine } from './engines/closed-engine.ts'
import { toReadError } from './engines/engine-errors.ts'
import { chain } from './maybe-promise.ts'
import { createSnapshotCollectedError, MissingError } from './missing-error.ts'
import { ReadQueue, readsInBatches } from './read-queue.ts'
import { isDeltaBlob, readDeltaBlob } from './segments/delta-row.ts'
import { readSegmentBlob } from './segments/read-segment.ts'
import { isSegmentBlob } from './segments/segment-row.ts'
import { StoreSession } from './sessions/store-session.ts'
import { PageFault } from './tree/node-cache.ts'

/** Limit of retries for work that met a collected page or blob: a retry reads a newer tree. */
const MAX_REOPENS = 3

/** Reads that an engine answers itself, or a queue in front of it. */
type ReadSource = Pick<Engine, 'readPage' | 'readBlob' | 'findBlob' | 'readRecord' | 'readJournal'>

type ResultMap<T> = Map<string | number, { readonly value: T }>

/** Results that a remote engine returned during one unit of work. */
class ReadResults {
  readonly blobs: ResultMap<Uint8Array | undefined> = new Map()
  readonly rows: ResultMap<Uint8Array | undefined> = new Map()
  readonly hashes: ResultMap<number | undefined> = new Map()
  readonly records: ResultMap<Uint8Array | undefined> = new Map()
  readonly lists: ResultMap<readonly RecordRow[]> = new Map()
  readonly journals: ResultMap<readonly JournalRow[]> = new Map()
  readonly counts: ResultMap<number> = new Map()
}

/**
 * Reads any engine synchronously. If a remote engine returns a promise, the read throws a fault; `run` awaits the
 * result and repeats the work. Work under `run` is therefore synchronous and may run more than once.
 */
export class EngineReader {
  readonly session: StoreSession
  /** True if the engine answers many reads in one trip: what may be needed next is read along. */
  readonly readsAhead: boolean
  #engine: Engine
  #source: ReadSource
  /** Set from the first read of a unit of work that waits, until the work ends. */
  #results: ReadResults | undefined

  constructor(engine: Engine) {
    this.#engine = engine
    this.session = new StoreSession(engine.sessionRegistry)
    this.readsAhead = readsInBatches(engine)
    this.#source = readsInBatches(engine) ? new ReadQueue(engine) : engine
  }

  /** The engine; after `close` one that refuses every call. */
  get engine(): Engine {
    return this.#engine
  }

  /** Makes every further read and commit throw EBADF. Closes nothing. */
  close(): void {
    this.#engine = new ClosedEngine(this.#engine)
    this.#source = this.#engine
  }

  /** True if calls of the engine may return promises. */
  get isRemote(): boolean {
    return this.engine.isSync !== true
  }

  /**
   * Runs work that reads; returns synchronously unless a read has to wait. If the tree was collected meanwhile, runs it
   * again on the current one. EIO if a page or blob stays missing; EUNAVAILABLE if it was held, but this process
   * answered a collection too late.
   */
  run<T>(work: () => T): MaybePromise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return work()
      } catch (error) {
        if (error instanceof PageFault) {
          const results = this.#results ?? new ReadResults()
          this.#results = undefined
          return this.#retry(work, error, results)
        }
        if (!(error instanceof MissingError)) throw error
        if (tries === MAX_REOPENS) return this.#throwMissing(error)
        this.engine.expireChangeCount?.()
      }
    }
  }

  /** Runs work for callers that cannot wait. ENOTSUP if a read has to wait for a remote engine. */
  runSync<T>(work: () => T): T {
    const result = this.run(work)
    if (!(result instanceof Promise)) return result
    result.catch(() => {})
    throw createNotLocalError(this.engine)
  }

  /** Runs synchronous work whose reads see one committed state, where the engine can do that. */
  readTogether<T>(work: () => T): T {
    return this.engine.readTogether === undefined ? work() : this.engine.readTogether(work)
  }

  /**
   * Reads values in one trip that work would need one after the other; throws a fault until they are there. Does
   * nothing if the engine does not read in batches.
   */
  gather(...reads: readonly (() => unknown)[]): void {
    if (!this.readsAhead) return
    const faults = reads.flatMap(catchFault)
    if (faults.length > 0)
      throw new PageFault(Promise.all(faults.map(({ loading }) => loading)).then(() => {}))
  }

  /** Reads a page for the node cache, which awaits it itself. */
  readPage(id: number): MaybePromise<Uint8Array | undefined> {
    this.session.answerIfDue()
    return this.#readEngine(() => this.#source.readPage(id))
  }

  readBlob(id: number): Uint8Array | undefined {
    const read = () => this.#readContent(id)
    return this.#readOrFault(
      ({ blobs }) => blobs,
      () => id,
      read,
    )
  }

  /** Reads the row of a blob as it is stored. */
  readBlobRow(id: number): Uint8Array | undefined {
    return this.#readOrFault(
      ({ rows }) => rows,
      () => id,
      () => this.#source.readBlob(id),
    )
  }

  /** Reads a blob for a caller that awaits it itself. */
  fetchBlob(id: number): MaybePromise<Uint8Array | undefined> {
    return this.#readEngine(() => this.#readContent(id))
  }

  /** Finds a blob for a caller that awaits it itself. */
  fetchBlobId(hash: Uint8Array): MaybePromise<number | undefined> {
    return this.#readEngine(() => this.#source.findBlob(hash))
  }

  findBlob(hash: Uint8Array): number | undefined {
    const read = () => this.#source.findBlob(hash)
    return this.#readOrFault(
      ({ hashes }) => hashes,
      () => Buffer.from(hash).toString('base64'),
      read,
    )
  }

  readRecord(key: string): Uint8Array | undefined {
    const read = () => this.#source.readRecord(key)
    return this.#readOrFault(
      ({ records }) => records,
      () => key,
      read,
    )
  }

  listRecords(prefix: string): readonly RecordRow[] {
    const read = () => this.engine.listRecords(prefix)
    return this.#readOrFault(
      ({ lists }) => lists,
      () => prefix,
      read,
    )
  }

  readJournal(vault: number, after: number, limit: number): readonly JournalRow[] {
    const read = () => this.#source.readJournal(vault, after, limit)
    return this.#readOrFault(
      ({ journals }) => journals,
      () => `${vault} ${after} ${limit}`,
      read,
    )
  }

  getChangeCount(vault: number): number {
    const read = () => this.engine.changeCount(vault)
    return this.#readOrFault(
      ({ counts }) => counts,
      () => vault,
      read,
    )
  }

  /** Awaits a fault and runs the work again, until it meets none. */
  async #retry<T>(work: () => T, fault: PageFault, first: ReadResults): Promise<T> {
    let [loading, results, reopens] = [fault.loading, first, 0]
    for (;;) {
      try {
        await loading
        this.#results = results
        return work()
      } catch (error) {
        if (error instanceof PageFault) loading = error.loading
        else if (!(error instanceof MissingError)) throw error
        else if (reopens++ === MAX_REOPENS) return this.#throwMissing(error)
        else {
          // Earlier results belong to a collected tree.
          results = new ReadResults()
          this.engine.expireChangeCount?.()
          loading = Promise.resolve()
        }
      } finally {
        this.#results = undefined
      }
    }
  }

  /** Throws the error, or EUNAVAILABLE if this session lost its holds. */
  #throwMissing(error: MissingError): MaybePromise<never> {
    return chain(this.session.hasLostHolds(), (hasLost) => {
      throw hasLost ? createSnapshotCollectedError(error) : error
    })
  }

  /** Reads a blob from the engine, or from the segment or the other blob to which its row refers. */
  #readContent(id: number): MaybePromise<Uint8Array | undefined> {
    if (isDeltaBlob(id)) {
      const readRow = (row: number) => this.#source.readBlob(row)
      return readDeltaBlob(id, readRow, (base) => this.#readContent(base))
    }
    if (!isSegmentBlob(id)) return this.#source.readBlob(id)
    this.session.answerIfDue()
    // Read again without a cache: a collection moves content to another segment.
    return readSegmentBlob(this.engine.segments, id, (isRepeated) =>
      isRepeated ? this.engine.readBlob(id) : this.#source.readBlob(id),
    )
  }

  /** Reports a failed read as EIO, whatever error the engine throws. */
  #readEngine<T>(read: () => MaybePromise<T>): MaybePromise<T> {
    try {
      const result = read()
      if (!(result instanceof Promise)) return result
      return result.catch(throwReadError)
    } catch (error) {
      return throwReadError(error)
    }
  }

  /** Returns a value that was read before, or reads it; throws a fault if it has to wait. */
  #readOrFault<T>(
    pick: (results: ReadResults) => ResultMap<T>,
    key: () => string | number,
    read: () => MaybePromise<T>,
  ): T {
    const found = this.#results && pick(this.#results).get(key())
    if (found !== undefined) return found.value
    const result = this.#readEngine(read)
    if (!(result instanceof Promise)) return result
    this.#results ??= new ReadResults()
    const values = pick(this.#results)
    throw new PageFault(
      result.then((value) => {
        values.set(key(), { value })
      }),
    )
  }
}

/** Runs a read and returns its fault, if it throws one. */
function catchFault(read: () => unknown): PageFault[] {
  try {
    read()
    return []
  } catch (error) {
    if (error instanceof PageFault) return [error]
    throw error
  }
}

/** Creates ENOTSUP for a synchronous call on a remote engine. */
export function createNotLocalError({ name }: Engine): VfsError {
  return new VfsError('ENOTSUP', '/', {
    detail: `the engine '${name}' has no synchronous calls; use a local engine`,
  })
}

function throwReadError(error: unknown): never {
  throw toReadError(error)
}
