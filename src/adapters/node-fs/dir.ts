import type { Dirent } from './dirent.ts'
import { cannotAnswerAtOnce, codedError } from './node-error.ts'
import type { DirectoryNames } from './operations/index.ts'
import { begin, runNow, type Steps } from './steps.ts'

type ReadCallback = (error: unknown, entry?: Dirent | null) => void
type CloseCallback = (error?: unknown) => void

/** A directory that is open to be read name by name, as `fs.Dir` has it. */
export class Dir implements AsyncDisposable, Disposable {
  readonly path: string
  readonly #names: DirectoryNames
  #isClosed = false
  /** Calls that were begun and are not answered yet. */
  #pending = 0

  constructor(path: string, names: DirectoryNames) {
    this.path = path
    this.#names = names
  }

  /** The next name; null when there are no more. */
  read(callback?: ReadCallback): Promise<Dirent | null> | undefined {
    const next = this.#later(this.#next())
    if (callback === undefined) return next
    next.then(
      (entry) => process.nextTick(callback, null, entry),
      (error: unknown) => process.nextTick(callback, error),
    )
    return undefined
  }

  readSync(): Dirent | null {
    this.#assertIdle()
    if (!this.#names.isSync) throw cannotAnswerAtOnce('readSync', this.path)
    return runNow(this.#next())
  }

  close(callback?: CloseCallback): Promise<void> | undefined {
    const closed = this.#later(this.#close())
    if (callback === undefined) return closed
    closed.then(
      () => process.nextTick(callback, null),
      (error: unknown) => process.nextTick(callback, error),
    )
    return undefined
  }

  closeSync(): void {
    this.#assertIdle()
    // A listing whose names come later is let go without waiting: there is nothing it could lose.
    if (this.#names.isSync) runNow(this.#close())
    else this.#later(this.#close()).catch(() => {})
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Dirent> {
    try {
      for (;;) {
        const entry = await this.#later(this.#next())
        if (entry === null) return
        yield entry
      }
    } finally {
      await this.#later(this.#close())
    }
  }

  entries(): AsyncGenerator<Dirent> {
    return this[Symbol.asyncIterator]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isClosed) await this.#later(this.#close())
  }

  [Symbol.dispose](): void {
    if (!this.#isClosed) this.closeSync()
  }

  async #later<T>(steps: Steps<T>): Promise<T> {
    this.#pending++
    try {
      return await begin(steps)
    } finally {
      this.#pending--
    }
  }

  *#next(): Steps<Dirent | null> {
    this.#assertOpen()
    return (yield* this.#names.next()) ?? null
  }

  *#close(): Steps<void> {
    this.#assertOpen()
    this.#isClosed = true
    yield* this.#names.close()
  }

  #assertOpen(): void {
    if (this.#isClosed) throw codedError('ERR_DIR_CLOSED', 'Directory handle was closed')
  }

  #assertIdle(): void {
    this.#assertOpen()
    if (this.#pending === 0) return
    const message = 'Cannot do synchronous work on directory handle with concurrent asynchronous operations'
    throw codedError('ERR_DIR_CONCURRENT_OPERATION', message)
  }
}
