/** Returns the next item, synchronously if it can, and undefined after the last. */
export type Pull<T> = () => T | undefined | Promise<T | undefined>

/** Returns a stream whose items come from another one's pull function, wrapped. Set by the class, whose field it reads. */
let wrapPull: <T extends object>(source: ReadyStream<T>, wrap: (pull: Pull<T>) => Pull<T>) => ReadyStream<T>

/** A stream whose items are mostly in memory: each step costs a single promise. */
export class ReadyStream<T extends object> implements AsyncIterableIterator<T> {
  static {
    wrapPull = (source, wrap) => new ReadyStream(wrap(source.#pull))
  }

  /** Creates a stream of items in memory. They belong to the stream: `rest` may return this very array. */
  static of<T extends object>(items: T[]): ReadyStream<T> {
    let next = 0
    const stream = new ReadyStream(() => items[next++])
    stream.#takeRest = () => {
      const rest = next === 0 ? items : items.slice(next)
      next = items.length
      return rest
    }
    return stream
  }

  #pull: Pull<T>
  /** Returns the remaining items of a stream that has them in memory. */
  #takeRest: (() => T[]) | undefined

  /** @param pull returns the next item, synchronously if it can, and undefined after the last. */
  constructor(pull: Pull<T>) {
    this.#pull = pull
  }

  /** Returns the stream with each item mapped, without an extra promise. */
  map(change: (item: T) => T): ReadyStream<T> {
    const pull = this.#pull
    const changeItem = (item: T | undefined) => item && change(item)
    return new ReadyStream(() => {
      const item = pull()
      return item instanceof Promise ? item.then(changeItem) : changeItem(item)
    })
  }

  /** Returns the stream without the items that a predicate rejects, without an extra promise. */
  filter(isKept: (item: T) => boolean): ReadyStream<T> {
    const pull = this.#pull
    const skip = (item: T | undefined): T | undefined | Promise<T | undefined> =>
      item === undefined || isKept(item) ? item : next()
    const next = () => {
      for (;;) {
        const item = pull()
        if (item instanceof Promise) return item.then(skip)
        if (item === undefined || isKept(item)) return item
      }
    }
    return new ReadyStream(next)
  }

  /** Returns the stream, which fails with the signal's reason once the signal is aborted. */
  until(signal: AbortSignal): ReadyStream<T> {
    const pull = this.#pull
    return new ReadyStream(() => {
      signal.throwIfAborted()
      return pull()
    })
  }

  /** Returns the remaining items, without a promise for each item in memory. */
  async rest(): Promise<T[]> {
    if (this.#takeRest !== undefined) return this.#takeRest()
    const items: T[] = []
    for (;;) {
      const next = this.#pull()
      const item = next instanceof Promise ? await next : next
      if (item === undefined) return items
      items.push(item)
    }
  }

  next(): Promise<IteratorResult<T>> {
    try {
      const item = this.#pull()
      return item instanceof Promise ? item.then(toResult) : Promise.resolve(toResult(item))
    } catch (error) {
      this.#pull = () => undefined
      return Promise.reject(error)
    }
  }

  return(): Promise<IteratorResult<T>> {
    this.#pull = () => undefined
    this.#takeRest = undefined
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

/** Returns a stream that calls `onError`, which throws another error, for each failure of the given one. */
export function catchErrors<T extends object>(
  source: ReadyStream<T>,
  onError: (error: unknown) => never,
): ReadyStream<T> {
  return wrapPull(source, (pull) => () => {
    try {
      const item = pull()
      return item instanceof Promise ? item.catch(onError) : item
    } catch (error) {
      return onError(error)
    }
  })
}

function toResult<T>(item: T | undefined): IteratorResult<T> {
  return item === undefined ? { done: true, value: undefined } : { done: false, value: item }
}
