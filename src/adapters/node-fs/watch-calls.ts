import type { CallContext, FileSystem } from '../../vfs/index.ts'
import { encodingOf, pathText } from './arguments.ts'
import { asNodeError } from './node-error.ts'
import { located, type Site, told } from './site.ts'
import { begin, type Steps, settled } from './steps.ts'
import { queueEvents, watchQueueOptions } from './watch-queue.ts'
import { type WatchEvent, Watcher, watchEvents } from './watching.ts'

/** `fs.watch(path, options?, listener?)`. */
export function watchCall(
  fs: FileSystem,
  site: Site,
  ctx: CallContext | undefined,
): (...args: unknown[]) => Watcher {
  return (given, ...rest) => {
    const path = pathText(given, 'filename')
    const options = typeof rest[0] === 'function' ? undefined : rest[0]
    const watcher = new Watcher((signal) => eventsAt(fs, site, path, options, { ...ctx, signal }), options)
    const listener = rest.find((argument) => typeof argument === 'function')
    if (typeof listener === 'function') watcher.on('change', (...event) => listener(...event))
    return watcher
  }
}

/** `fs.promises.watch(path, options?)`: events until the signal of the options says stop. */
export function watchPromise(
  fs: FileSystem,
  site: Site,
  ctx: CallContext | undefined,
): (...args: unknown[]) => AsyncIterable<WatchEvent> {
  return async function* (given, options) {
    const queue = watchQueueOptions(options)
    encodingOf(options)
    const path = pathText(given, 'filename')
    yield* queueEvents((signal) => eventsAt(fs, site, path, options, { ...ctx, signal }), queue)
  }
}

async function* eventsAt(
  fs: FileSystem,
  site: Site,
  path: string,
  options: unknown,
  ctx: CallContext,
): AsyncGenerator<WatchEvent> {
  const asked = { syscall: 'watch', path }
  try {
    const place = await begin(told(site, asked, existing(site, path)))
    yield* watchEvents(fs, place, options, ctx)
  } catch (error) {
    throw asNodeError(error, asked)
  }
}

function* existing(site: Site, given: string): Steps<string> {
  const path = yield* located(site, given)
  const real = yield* settled(site.ground.realpath(path))
  yield* settled(site.ground.lstat(real))
  return real
}
