import { type Signal, signal } from '@preact/signals'
import { EVENTS_PATH, type WebEvent } from '../../web-api/index.ts'
import { readError } from './api.ts'
import { EventLines } from './event-lines.ts'
import { session } from './session.ts'

/** State of the event stream. `lost` lasts until the server answers again. */
export const connection: Signal<'opening' | 'live' | 'lost'> = signal('opening')

const FIRST_DELAY_MS = 250
const LONGEST_DELAY_MS = 5000

export interface EventStreamOptions {
  /** The position to begin after. */
  readonly after: string
  readonly onEvent: (event: WebEvent) => void
  readonly signal: AbortSignal
}

/**
 * Follows the events of the server until the signal aborts. After a lost connection it goes on behind the last event
 * that arrived, so that none is missed.
 */
export async function followEvents({ after, onEvent, signal }: EventStreamOptions): Promise<void> {
  let position = after
  let delay = FIRST_DELAY_MS
  while (!signal.aborted && session.value.state === 'open') {
    try {
      for await (const { id, data } of readEvents(position, signal)) {
        delay = FIRST_DELAY_MS
        position = id ?? position
        onEvent(parseEvent(data))
      }
    } catch {
      // A refused or broken connection is tried again below, as an ended one is.
    }
    if (signal.aborted || session.value.state !== 'open') return
    connection.value = 'lost'
    await waitForRetry(delay, signal)
    delay = Math.min(delay * 2, LONGEST_DELAY_MS)
  }
}

async function* readEvents(
  after: string,
  signal: AbortSignal,
): AsyncGenerator<{ readonly id: string | undefined; readonly data: string }> {
  const response = await fetch(`${EVENTS_PATH}?${new URLSearchParams({ after })}`, {
    headers: { authorization: `Bearer ${session.value.token}`, accept: 'text/event-stream' },
    cache: 'no-store',
    signal,
  })
  if (!response.ok || response.body === null) throw await readError(response)
  connection.value = 'live'
  const lines = new EventLines()
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield* lines.push(decoder.decode(value, { stream: true }))
  }
}

/** Waits some time, or until the browser reports a network again. */
function waitForRetry(delayMs: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, delayMs)
  const end = new AbortController()
  window.addEventListener('online', () => resolve(), { signal: end.signal })
  signal.addEventListener('abort', () => resolve(), { signal: end.signal })
  return promise.finally(() => {
    clearTimeout(timer)
    end.abort()
  })
}

function parseEvent(data: string): WebEvent {
  return JSON.parse(data)
}
