import { ReadyStream } from '../../vfs/index.ts'

/** Returns the next item, synchronously if possible, and undefined after the last. */
export type PullNext<T> = () => T | undefined | Promise<T | undefined>

/**
 * Creates a stream that opens its source at the first step. Concurrent steps wait for each other, so several
 * readers may share the stream.
 */
export function createLazyStream<T extends object>(open: () => Promise<PullNext<T>>): ReadyStream<T> {
  let pull: PullNext<T> | undefined
  let busy: Promise<void> | undefined
  const first = async () => {
    pull = await open()
    return pull()
  }
  const step: PullNext<T> = () => {
    if (busy !== undefined) return busy.then(step)
    const answer = pull === undefined ? first() : pull()
    if (!(answer instanceof Promise)) return answer
    const isDone = () => {
      busy = undefined
    }
    busy = answer.then(isDone, isDone)
    return answer
  }
  return new ReadyStream(step)
}
