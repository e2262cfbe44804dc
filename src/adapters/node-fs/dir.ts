import { type Coroutine, runSync, startCoroutine } from './coroutine.ts'
import type { Dirent } from './dirent.ts'
import { createCodedError, createNotSyncError } from './node-error.ts'
import type { DirentReader } from './operations/index.ts'

type ReadCallback = (error: unknown, entry?: Dirent | null) => void
type CloseCallback = (error?: unknown) => void

/** An open directory, as `fs.Dir`. */
export class Dir implements AsyncDisposable, Disposable {
  readonly path: string
  readonly #reader: DirentReader
  #isClosed = false
  /** Number of pending calls. */
  #pending = 0

  constructor(path: string, reader: DirentReader) {
    this.path = path
    this.#reader = reader
  }

  /** Reads the next entry; null at the end. */
  read(callback?: ReadCallback): Promise<Dirent | null> | undefined {
    const next = this.#startPending(this.#next())
    if (callback === undefined) return next
    next.then(
      (entry) => process.nextTick(callback, null, entry),
      (error: unknown) => process.nextTick(callback, error),
    )
    return undefined
  }

  readSync(): Dirent | null {
    this.#assertIdle()
    if (!this.#reader.isSync) throw createNotSyncError('readSync', this.path)
    return runSync(this.#next())
  }

  close(callback?: CloseCallback): Promise<void> | undefined {
    const closed = this.#startPending(this.#close())
    if (callback === undefined) return closed
    closed.then(
      () => process.nextTick(callback, null),
      (error: unknown) => process.nextTick(callback, error),
    )
    return undefined
  }

  closeSync(): void {
    this.#assertIdle()
    // Closing an asynchronous listing need not be awaited: it cannot lose anything.
    if (this.#reader.isSync) runSync(this.#close())
    else this.#startPending(this.#close()).catch(() => {})
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Dirent> {
    try {
      for (;;) {
        const entry = await this.#startPending(this.#next())
        if (entry === null) return
        yield entry
      }
    } finally {
      await this.#startPending(this.#close())
    }
  }

  entries(): AsyncGenerator<Dirent> {
    return this[Symbol.asyncIterator]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isClosed) await this.#startPending(this.#close())
  }

  [Symbol.dispose](): void {
    if (!this.#isClosed) this.closeSync()
  }

  async #startPending<T>(steps: Coroutine<T>): Promise<T> {
    this.#pending++
    try {
      return await startCoroutine(steps)
    } finally {
      this.#pending--
    }
  }

  *#next(): Coroutine<Dirent | null> {
    this.#assertOpen()
    return (yield* this.#reader.next()) ?? null
  }

  *#close(): Coroutine<void> {
    this.#assertOpen()
    this.#isClosed = true
    yield* this.#reader.close()
  }

  #assertOpen(): void {
    if (this.#isClosed) throw createCodedError('ERR_DIR_CLOSED', 'Directory handle was closed')
  }

  #assertIdle(): void {
    this.#assertOpen()
    if (this.#pending === 0) return
    const message = 'Cannot do synchronous work on directory handle with concurrent asynchronous operations'
    throw createCodedError('ERR_DIR_CONCURRENT_OPERATION', message)
  }
}
