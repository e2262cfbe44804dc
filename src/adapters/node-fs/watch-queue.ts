import { ArgumentError, createAbortError, createCodedError } from './node-error.ts'
import { createArgumentTypeError, getOption } from './parse-arguments.ts'
import type { WatchEvent } from './watcher.ts'

const DEFAULT_MAX_QUEUE = 2048

/** Options of `fs.promises.watch` for its queue. */
export interface WatchQueueOptions {
  readonly signal: AbortSignal | undefined
  readonly maxQueue: number
  readonly overflow: 'ignore' | 'error'
}

/** Validates options as Node does. */
export function parseQueueOptions(options: unknown = {}): WatchQueueOptions {
  if (typeof options !== 'object' || options === null)
    throw createArgumentTypeError('options', 'of type object', options)
  for (const name of ['persistent', 'recursive']) {
    const value = getOption(options, name) ?? false
    if (typeof value !== 'boolean') throw createArgumentTypeError(`options.${name}`, 'of type boolean', value)
  }
  const signal = getOption(options, 'signal')
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw createArgumentTypeError('options.signal', 'an instance of AbortSignal', signal)
  }
  return {
    signal,
    maxQueue: parseMaxQueue(getOption(options, 'maxQueue')),
    overflow: parseOverflow(getOption(options, 'overflow')),
  }
}

/**
 * Yields events in order from a bounded queue. On overflow, new events are dropped with
 * a warning, or the watch fails.
 */
export async function* queueEvents(
  watch: (signal: AbortSignal) => AsyncIterable<WatchEvent>,
  options: WatchQueueOptions,
): AsyncGenerator<WatchEvent> {
  const { signal } = options
  if (signal?.aborted) throw createAbortError(signal.reason)
  const stop = new AbortController()
  const queue = new EventQueue(options)
  const abort = () => queue.end(createAbortError(signal?.reason))
  signal?.addEventListener('abort', abort, { once: true })
  queue.fill(watch(stop.signal))
  try {
    yield* queue.events()
  } finally {
    signal?.removeEventListener('abort', abort)
    stop.abort()
  }
}

class EventQueue {
  readonly #options: WatchQueueOptions
  readonly #events: WatchEvent[] = []
  #end: { readonly error?: unknown } | undefined
  #wake = () => {}

  constructor(options: WatchQueueOptions) {
    this.#options = options
  }

  async fill(events: AsyncIterable<WatchEvent>): Promise<void> {
    try {
      for await (const event of events) {
        if (this.#end !== undefined) return
        this.#add(event)
      }
      this.#finish({})
    } catch (error) {
      this.end(error)
    }
  }

  end(error: unknown): void {
    this.#finish({ error })
  }

  async *events(): AsyncGenerator<WatchEvent> {
    for (;;) {
      for (let event = this.#events.shift(); event !== undefined; event = this.#events.shift()) yield event
      if (this.#end !== undefined) {
        if ('error' in this.#end) throw this.#end.error
        return
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #add(event: WatchEvent): void {
    const { maxQueue, overflow } = this.#options
    if (this.#events.length < maxQueue) {
      this.#events.push(event)
      this.#wake()
    } else if (overflow === 'ignore') process.emitWarning('fs.watch maxQueue exceeded')
    else {
      const message = `fs.watch() queued more than ${maxQueue} events`
      this.end(createCodedError('ERR_FS_WATCH_QUEUE_OVERFLOW', message))
    }
  }

  #finish(end: { readonly error?: unknown }): void {
    this.#end ??= end
    this.#wake()
  }
}

function parseMaxQueue(value: unknown): number {
  if (value === undefined) return DEFAULT_MAX_QUEUE
  if (typeof value !== 'number') throw createArgumentTypeError('options.maxQueue', 'of type number', value)
  if (Number.isSafeInteger(value)) return value
  const message = `The value of "options.maxQueue" is out of range. It must be an integer. Received ${value}`
  throw Object.assign(new RangeError(message), { code: 'ERR_OUT_OF_RANGE' })
}

function parseOverflow(value: unknown): 'ignore' | 'error' {
  if (value === undefined) return 'ignore'
  if (value === 'ignore' || value === 'error') return value
  const message = `The property 'options.overflow' must be one of: 'ignore', 'error'. Received ${String(value)}`
  throw new ArgumentError('ERR_INVALID_ARG_VALUE', message)
}
