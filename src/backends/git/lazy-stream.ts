import { ReadyStream } from '../../vfs/index.ts'

/** Returns the next item, synchronously if possible, and undefined after the last. */
export type PullNext<T> = () => T | undefined | Promise<T | undefined>

/**
 * Creates a stream that opens its source at the first step. Concurrent steps wait for each other, so several
 * readers may share the stream.
 */
export function createLazyStream<T extends object>(open: () => Promise<PullNext<T>>): ReadyStream<T> {
  let pull: PullNext<T> | undefined
  let pending: Promise<void> | undefined
  const first = async () => {
    pull = await open()
    return pull()
  }
  const step: PullNext<T> = () => {
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
