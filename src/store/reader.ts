import { VfsError } from '../vfs/index.ts'
import type { Answer, Engine, JournalRow, RecordRow } from './engine.ts'
import { readError } from './engines/engine-errors.ts'
import { collectedError, MissingError } from './missing-error.ts'
import { Session } from './sessions/session.ts'
import { PageFault } from './tree/node-cache.ts'

/** How often work is done again that met something a collection has just taken: by then there is a newer tree. */
const MOST_REOPENS = 3

type Known<T> = Map<string | number, { readonly value: T }>

/** What a remote engine answered while one piece of work was tried. */
class Answers {
  readonly blobs: Known<Uint8Array | undefined> = new Map()
  readonly hashes: Known<number | undefined> = new Map()
  readonly records: Known<Uint8Array | undefined> = new Map()
  readonly lists: Known<readonly RecordRow[]> = new Map()
  readonly journals: Known<readonly JournalRow[]> = new Map()
  readonly counts: Known<number> = new Map()
}

/**
 * Reads an engine as if it were at hand. A local engine is. A remote one answers later: the read then throws a fault,
 * and `resolve` waits for the answer and does the work again, which now finds it.
 * Work under `resolve` is therefore synchronous and may run more than once.
 */
export class EngineReader {
  readonly engine: Engine
  readonly session: Session
  /** Only while work is tried again. */
  #answers: Answers | undefined
  #isRemote = false

  constructor(engine: Engine) {
    this.engine = engine
    this.session = new Session(engine.board)
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
  resolve<T>(work: () => T): Answer<T> {
    for (let tries = 0; ; tries++) {
      try {
        return work()
      } catch (error) {
        if (error instanceof PageFault) {
          const answers = this.#answers ?? new Answers()
          this.#answers = undefined
          return this.#tryAgain(work, error, answers)
        }
        if (!(error instanceof MissingError)) throw error
        if (tries === MOST_REOPENS) return this.#explain(error)
      }
    }
  }

  /** The same for callers that cannot wait. ENOTSUP where the engine lets them. */
  resolveNow<T>(work: () => T): T {
    const result = this.resolve(work)
    if (!(result instanceof Promise)) return result
    result.catch(() => {})
    throw notLocal(this.engine)
  }

  /** A page, for the cache of nodes: whoever asks waits for it himself. */
  page(id: number): Answer<Uint8Array | undefined> {
    this.session.poll()
    return this.#read(() => this.engine.readPage(id))
  }

  blob(id: number): Uint8Array | undefined {
    const read = () => this.engine.readBlob(id)
    return this.#ask(
      ({ blobs }) => blobs,
      () => id,
      read,
    )
  }

  blobOf(hash: Uint8Array): number | undefined {
    const read = () => this.engine.findBlob(hash)
    return this.#ask(
      ({ hashes }) => hashes,
      () => Buffer.from(hash).toString('base64'),
      read,
    )
  }

  record(key: string): Uint8Array | undefined {
    const read = () => this.engine.readRecord(key)
    return this.#ask(
      ({ records }) => records,
      () => key,
      read,
    )
  }

  records(prefix: string): readonly RecordRow[] {
    const read = () => this.engine.listRecords(prefix)
    return this.#ask(
      ({ lists }) => lists,
      () => prefix,
      read,
    )
  }

  rows(vault: number, after: number, limit: number): readonly JournalRow[] {
    const read = () => this.engine.readJournal(vault, after, limit)
    return this.#ask(
      ({ journals }) => journals,
      () => `${vault} ${after} ${limit}`,
      read,
    )
  }

  changeCount(): number {
    const read = () => this.engine.changeCount()
    return this.#ask(
      ({ counts }) => counts,
      () => 'changes',
      read,
    )
  }

  async #tryAgain<T>(work: () => T, fault: PageFault, first: Answers): Promise<T> {
    let [loading, answers, reopens] = [fault.loading, first, 0]
    for (;;) {
      try {
        await loading
        this.#answers = answers
        return work()
      } catch (error) {
        if (error instanceof PageFault) loading = error.loading
        else if (!(error instanceof MissingError)) throw error
        else if (reopens++ === MOST_REOPENS) return this.#explain(error)
        else {
          // What was answered before is of a tree that is no more.
          answers = new Answers()
          loading = Promise.resolve()
        }
      } finally {
        this.#answers = undefined
      }
    }
  }

  #explain(error: MissingError): Answer<never> {
    return chain(this.session.hasLost(), (hasLost) => {
      throw hasLost ? collectedError(error) : error
    })
  }

  /** A disk that cannot be read is EIO, in whatever words the engine says it. */
  #read<T>(read: () => Answer<T>): Answer<T> {
    try {
      const answer = read()
      if (!(answer instanceof Promise)) return answer
      this.#isRemote = true
      return answer.catch(failed)
    } catch (error) {
      return failed(error)
    }
  }

  #ask<T>(pick: (answers: Answers) => Known<T>, key: () => string | number, read: () => Answer<T>): T {
    const found = this.#answers && pick(this.#answers).get(key())
    if (found !== undefined) return found.value
    const answer = this.#read(read)
    if (!(answer instanceof Promise)) return answer
    this.#answers ??= new Answers()
    const known = pick(this.#answers)
    throw new PageFault(
      answer.then((value) => {
        known.set(key(), { value })
      }),
    )
  }
}

/** Why a caller that cannot wait gets no answer. */
export function notLocal({ name }: Engine): VfsError {
  return new VfsError('ENOTSUP', '/', { detail: `the engine '${name}' lets callers wait; use a local one` })
}

function failed(error: unknown): never {
  throw readError(error)
}

/** Goes on with an answer: at once if it is here, when it comes if not. */
export function chain<T, U>(answer: Answer<T>, next: (value: T) => Answer<U>): Answer<U> {
  return answer instanceof Promise ? answer.then(next) : next(answer)
}
