import { chain, type MaybePromise } from '../../store/index.ts'

/** Returns the stream of an opened source, synchronously if it is available. */
export function openStream<S, T>(
  opened: MaybePromise<S>,
  stream: (found: S) => AsyncIterable<T>,
): AsyncIterable<T> {
  const started = chain(opened, stream)
  return started instanceof Promise ? awaitStream(started) : started
}

async function* awaitStream<T>(stream: Promise<AsyncIterable<T>>): AsyncGenerator<T> {
  yield* await stream
}
