/** A stream that is opened at its first step, by a promise. An item costs the same as in the opened stream. */
export class DeferredStream<T> implements AsyncIterableIterator<T> {
  readonly #open: () => Promise<AsyncIterable<T>>
  readonly #signal: AbortSignal | undefined
  #opening: Promise<AsyncIterator<T>> | undefined
  #opened: AsyncIterator<T> | undefined
  #isEnded = false

  constructor(open: () => Promise<AsyncIterable<T>>, signal?: AbortSignal) {
    this.#open = open
    this.#signal = signal
  }

  /** Returns the stream, which fails with the signal's reason once the signal is aborted. */
  until(signal: AbortSignal): DeferredStream<T> {
    return new DeferredStream(this.#open, signal)
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#isEnded) return Promise.resolve({ done: true, value: undefined })
    if (this.#signal?.aborted) return this.#abort(this.#signal.reason)
    if (this.#opened !== undefined) return this.#opened.next()
    this.#opening ??= this.#start()
    return this.#opening.then((opened) => opened.next())
  }

  async return(): Promise<IteratorResult<T>> {
    this.#isEnded = true
    const opened = await this.#opening?.catch(() => undefined)
    await opened?.return?.()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async #start(): Promise<AsyncIterator<T>> {
    try {
      this.#opened = (await this.#open())[Symbol.asyncIterator]()
      return this.#opened
    } catch (error) {
      this.#isEnded = true
      throw error
    }
  }

  async #abort(reason: unknown): Promise<never> {
    await this.return()
    throw reason
  }
}

/** Waits for the first item, so that a stream that cannot be opened fails here, and not at its first step. */
export async function startStream<T>(source: AsyncIterable<T>): Promise<AsyncIterable<T>> {
  const iterator = source[Symbol.asyncIterator]()
  let first: IteratorResult<T> | undefined = await iterator.next()
  const started: AsyncIterableIterator<T> = {
    next() {
      if (first === undefined) return iterator.next()
      const result = first
      first = undefined
      return Promise.resolve(result)
    },
    async return() {
      await iterator.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => started,
  }
  return started
}
