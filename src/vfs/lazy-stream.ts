import { type Pull, ReadyStream } from './ready-stream.ts'

/**
 * Creates a stream that opens its source at the first step. Concurrent steps wait for each other, so several
 * readers may share the stream.
 */
export function createLazyStream<T extends object>(open: () => Promise<Pull<T>>): ReadyStream<T> {
  let pull: Pull<T> | undefined
  let pending: Promise<void> | undefined
  const first = async () => {
    pull = await open()
    return pull()
  }
  const step: Pull<T> = () => {
    if (pending !== undefined) return pending.then(step)
    const item = pull === undefined ? first() : pull()
    if (!(item instanceof Promise)) return item
    const isDone = () => {
      pending = undefined
    }
    pending = item.then(isDone, isDone)
    return item
  }
  return new ReadyStream(step)
}

/** Returns the items of an array, one a call. */
export function pullFrom<T extends object>(items: readonly T[]): Pull<T> {
  let next = 0
  return () => items[next++]
}
