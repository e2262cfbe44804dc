import { VfsError } from '../vfs/index.ts'
import type { Engine, JournalRow, MaybePromise, RecordRow } from './engine.ts'
import { readError } from './engines/engine-errors.ts'
import { createSnapshotCollectedError, MissingError } from './missing-error.ts'
import { StoreSession } from './sessions/store-session.ts'
import { PageFault } from './tree/node-cache.ts'

/** How often work is done again that met something a collection has just taken: by then there is a newer tree. */
const MAX_REOPENS = 3

type ResultMap<T> = Map<string | number, { readonly value: T }>

/** What a remote engine answered while one piece of work was tried. */
class ReadResults {
  readonly blobs: ResultMap<Uint8Array | undefined> = new Map()
  readonly hashes: ResultMap<number | undefined> = new Map()
  readonly records: ResultMap<Uint8Array | undefined> = new Map()
  readonly lists: ResultMap<readonly RecordRow[]> = new Map()
  readonly journals: ResultMap<readonly JournalRow[]> = new Map()
  readonly counts: ResultMap<number> = new Map()
}

/**
 * Reads an engine as if it were at hand. A local engine is. A remote one answers later: the read then throws a fault,
 * and `resolve` waits for the answer and does the work again, which now finds it.
 * Work under `resolve` is therefore synchronous and may run more than once.
 */
export class EngineReader {
  readonly engine: Engine
  readonly session: StoreSession
  /** Only while work is tried again. */
  #results: ReadResults | undefined
  #isRemote = false

  constructor(engine: Engine) {
    this.engine = engine
    this.session = new StoreSession(engine.sessionRegistry)
  }

  /** Whether the engine has ever let anybody wait. */
  get isRemote(): boolean {
    return this.#isRemote
  }

  /** Called when the engine lets a commit wait. */
  markRemote(): void {
    this.#isRemote = true
  }

  /**
   * The result of work that reads; at once if nothing it reads is far away. A tree that was collected meanwhile is
   * read again as it is now; EUNAVAILABLE if it was held, but this process had not answered for too long.
   */
  run<T>(work: () => T): MaybePromise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return work()
      } catch (error) {
        if (error instanceof PageFault) {
          const answers = this.#results ?? new ReadResults()
          this.#results = undefined
          return this.#retry(work, error, answers)
        }
        if (!(error instanceof MissingError)) throw error
        if (tries === MAX_REOPENS) return this.#throwMissing(error)
      }
    }
  }

  /** The same for callers that cannot wait. ENOTSUP where the engine lets them. */
  runSync<T>(work: () => T): T {
    const result = this.run(work)
    if (!(result instanceof Promise)) return result
    result.catch(() => {})
    throw createNotLocalError(this.engine)
  }

  /** A page, for the cache of nodes: whoever asks waits for it himself. */
  readPage(id: number): MaybePromise<Uint8Array | undefined> {
    this.session.answerIfDue()
    return this.#readEngine(() => this.engine.readPage(id))
  }

  readBlob(id: number): Uint8Array | undefined {
    const read = () => this.engine.readBlob(id)
    return this.#readOrFault(
      ({ blobs }) => blobs,
      () => id,
      read,
    )
  }

  findBlob(hash: Uint8Array): number | undefined {
    const read = () => this.engine.findBlob(hash)
    return this.#readOrFault(
      ({ hashes }) => hashes,
      () => Buffer.from(hash).toString('base64'),
      read,
    )
  }

  readRecord(key: string): Uint8Array | undefined {
    const read = () => this.engine.readRecord(key)
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
    const read = () => this.engine.readJournal(vault, after, limit)
    return this.#readOrFault(
      ({ journals }) => journals,
      () => `${vault} ${after} ${limit}`,
      read,
    )
  }

  getChangeCount(): number {
    const read = () => this.engine.changeCount()
    return this.#readOrFault(
      ({ counts }) => counts,
      () => 'changes',
      read,
    )
  }

  async #retry<T>(work: () => T, fault: PageFault, first: ReadResults): Promise<T> {
    let [loading, answers, reopens] = [fault.loading, first, 0]
    for (;;) {
      try {
        await loading
        this.#results = answers
        return work()
      } catch (error) {
        if (error instanceof PageFault) loading = error.loading
        else if (!(error instanceof MissingError)) throw error
        else if (reopens++ === MAX_REOPENS) return this.#throwMissing(error)
        else {
          // What was answered before is of a tree that is no more.
          answers = new ReadResults()
          loading = Promise.resolve()
        }
      } finally {
        this.#results = undefined
      }
    }
  }

  #throwMissing(error: MissingError): MaybePromise<never> {
    return chain(this.session.hasLostHolds(), (hasLost) => {
      throw hasLost ? createSnapshotCollectedError(error) : error
    })
  }

  /** A disk that cannot be read is EIO, in whatever words the engine says it. */
  #readEngine<T>(read: () => MaybePromise<T>): MaybePromise<T> {
    try {
      const answer = read()
      if (!(answer instanceof Promise)) return answer
      this.#isRemote = true
      return answer.catch(throwReadError)
    } catch (error) {
      return throwReadError(error)
    }
  }

  #readOrFault<T>(
    pick: (answers: ReadResults) => ResultMap<T>,
    key: () => string | number,
    read: () => MaybePromise<T>,
  ): T {
    const found = this.#results && pick(this.#results).get(key())
    if (found !== undefined) return found.value
    const answer = this.#readEngine(read)
    if (!(answer instanceof Promise)) return answer
    this.#results ??= new ReadResults()
    const known = pick(this.#results)
    throw new PageFault(
      answer.then((value) => {
        known.set(key(), { value })
      }),
    )
  }
}

/** Why a caller that cannot wait gets no answer. */
export function createNotLocalError({ name }: Engine): VfsError {
  return new VfsError('ENOTSUP', '/', { detail: `the engine '${name}' lets callers wait; use a local one` })
}

function throwReadError(error: unknown): never {
  throw readError(error)
}

/** Goes on with an answer: at once if it is here, when it comes if not. */
export function chain<T, U>(answer: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return answer instanceof Promise ? answer.then(next) : next(answer)
}
