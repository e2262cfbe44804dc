import type { CallContext, FileSystem } from '../../vfs/index.ts'
import { type Coroutine, startCoroutine, waitFor } from './coroutine.ts'
import { type FsContext, resolvePath, withNodeErrors } from './fs-context.ts'
import { toNodeError } from './node-error.ts'
import { parseEncoding, parsePath } from './parse-arguments.ts'
import { parseQueueOptions, queueEvents } from './watch-queue.ts'
import { streamWatchEvents, type WatchEvent, Watcher } from './watcher.ts'

/** `fs.watch(path, options?, listener?)`. */
export function createWatch(
  fs: FileSystem,
  context: FsContext,
  ctx: CallContext | undefined,
): (...args: unknown[]) => Watcher {
  return (given, ...rest) => {
    const path = parsePath(given, 'filename')
    const options = typeof rest[0] === 'function' ? undefined : rest[0]
    const watcher = new Watcher(
      (signal) => streamEvents(fs, context, path, options, { ...ctx, signal }),
      options,
    )
    const listener = rest.find((argument) => typeof argument === 'function')
    if (typeof listener === 'function') watcher.on('change', (...event) => listener(...event))
    return watcher
  }
}

/** `fs.promises.watch(path, options?)`: events until the signal aborts. */
export function createWatchPromise(
  fs: FileSystem,
  context: FsContext,
  ctx: CallContext | undefined,
): (...args: unknown[]) => AsyncIterable<WatchEvent> {
  return async function* (given, options) {
    const queue = parseQueueOptions(options)
    parseEncoding(options)
    const path = parsePath(given, 'filename')
    yield* queueEvents((signal) => streamEvents(fs, context, path, options, { ...ctx, signal }), queue)
  }
}

async function* streamEvents(
  fs: FileSystem,
  context: FsContext,
  path: string,
  options: unknown,
  ctx: CallContext,
): AsyncGenerator<WatchEvent> {
  const call = { syscall: 'watch', path }
  try {
    const real = await startCoroutine(withNodeErrors(context, call, resolveExisting(context, path)))
    yield* streamWatchEvents(fs, real, options, ctx)
  } catch (error) {
    throw toNodeError(error, call)
  }
}

function* resolveExisting(context: FsContext, given: string): Coroutine<string> {
  const path = yield* resolvePath(context, given)
  const real = yield* waitFor(context.driver.realpath(path))
  yield* waitFor(context.driver.lstat(real))
  return real
}
