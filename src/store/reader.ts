import type { Answer, Engine, JournalRow, RecordRow } from './engine.ts'
import { readError } from './engines/engine-errors.ts'
import { PageFault } from './tree/node-cache.ts'

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
  /** Only while work is tried again. */
  #answers: Answers | undefined
  #isRemote = false

  constructor(engine: Engine) {
    this.engine = engine
  }

  /** Whether the engine has ever let anybody wait. */
  get isRemote(): boolean {
    return this.#isRemote
  }

  /** The result of work that reads; at once if nothing it reads is far away. */
  resolve<T>(work: () => T): Answer<T> {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof PageFault)) throw error
      const answers = this.#answers ?? new Answers()
      this.#answers = undefined
      return this.#tryAgain(work, error, answers)
    }
  }

  /** A page, for the cache of nodes: whoever asks waits for it himself. */
  page(id: number): Answer<Uint8Array | undefined> {
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

  async #tryAgain<T>(work: () => T, fault: PageFault, answers: Answers): Promise<T> {
    for (let waiting = fault; ; ) {
      await waiting.loading
      try {
        this.#answers = answers
        return work()
      } catch (error) {
        if (!(error instanceof PageFault)) throw error
        waiting = error
      } finally {
        this.#answers = undefined
      }
    }
  }

  /** A disk that cannot be read is EIO, in whatever words the engine says it. */
  #read<T>(read: () => Answer<T>): Answer<T> {
    try {
      const answer = read()
      return answer instanceof Promise ? answer.catch(failed) : answer
    } catch (error) {
      return failed(error)
    }
  }

  #ask<T>(pick: (answers: Answers) => Known<T>, key: () => string | number, read: () => Answer<T>): T {
    const found = this.#answers && pick(this.#answers).get(key())
    if (found !== undefined) return found.value
    const answer = this.#read(read)
    if (!(answer instanceof Promise)) return answer
    this.#isRemote = true
    this.#answers ??= new Answers()
    const known = pick(this.#answers)
    throw new PageFault(
      answer.then((value) => {
        known.set(key(), { value })
      }),
    )
  }
}

function failed(error: unknown): never {
  throw readError(error)
}

/** Goes on with an answer: at once if it is here, when it comes if not. */
export function chain<T, U>(answer: Answer<T>, next: (value: T) => Answer<U>): Answer<U> {
  return answer instanceof Promise ? answer.then(next) : next(answer)
}
