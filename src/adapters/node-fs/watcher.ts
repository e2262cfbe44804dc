import { EventEmitter } from 'node:events'
import {
  basename,
  type CallContext,
  type FileSystem,
  isWatchable,
  type PathChange,
  relativeTo,
  VfsError,
} from '../../vfs/index.ts'
import { encodeName, getOption, isOptionSet, parseEncoding } from './parse-arguments.ts'

/** An event of a watcher. */
export interface WatchEvent {
  readonly eventType: 'rename' | 'change'
  readonly filename: string | Buffer
}

/** Yields the changes at or below a canonical path, as `fs.watch` reports them, until the signal aborts. */
export async function* streamWatchEvents(
  fs: FileSystem,
  path: string,
  options: unknown,
  ctx: CallContext,
): AsyncGenerator<WatchEvent> {
  if (!isWatchable(fs)) {
    const detail = 'this file system cannot be watched; use one with the capability watch'
    throw new VfsError('ENOTSUP', path, { op: 'watch', detail })
  }
  const form = { encoding: parseEncoding(options) ?? 'utf8' }
  for await (const change of fs.watch(path, ctx)) {
    const eventType = change.kind === 'modified' ? 'change' : 'rename'
    for (const name of listNames(change, path, isOptionSet(options, 'recursive'))) {
      yield { eventType, filename: encodeName(name, form) }
    }
  }
}

/** Lists the names of a change relative to the watched path: both of a rename. */
function listNames(change: PathChange, top: string, isRecursive: boolean): string[] {
  const paths = change.from === undefined ? [change.path] : [change.from, change.path]
  return paths.flatMap((path) => {
    const relative = relativeTo(path, top)
    if (relative === null) return []
    if (relative === '') return [basename(top)]
    if (isRecursive || !relative.includes('/')) return [relative]
    // A new file further down may have created its directory, which has no event of its own.
    return change.kind === 'modified' ? [] : relative.split('/', 1)
  })
}

/** Watches until closed: `change`, `error` and `close` events, as `fs.FSWatcher`. */
export class Watcher extends EventEmitter {
  readonly #stop = new AbortController()

  /** @param watch starts watching; its errors become `error` events. */
  constructor(watch: (signal: AbortSignal) => AsyncIterable<WatchEvent>, options: unknown) {
    super()
    const signal = getOption(options, 'signal')
    if (signal instanceof AbortSignal) {
      if (signal.aborted) process.nextTick(() => this.close())
      else signal.addEventListener('abort', () => this.close(), { once: true })
    }
    this.#emitEvents(watch(this.#stop.signal))
  }

  close(): void {
    if (this.#stop.signal.aborted) return
    this.#stop.abort()
    process.nextTick(() => this.emit('close'))
  }

  /** No effect: the file system decides whether the process stays alive. */
  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  async #emitEvents(events: AsyncIterable<WatchEvent>): Promise<void> {
    try {
      for await (const { eventType, filename } of events) this.emit('change', eventType, filename)
    } catch (error) {
      if (!this.#stop.signal.aborted) process.nextTick(() => this.emit('error', error))
    }
  }
}
