import { randomBytes } from 'node:crypto'
import type { NumberedWebEvent, WebEvent } from '../../web-api/index.ts'

/** Events that a page can catch up with after it lost its connection. */
const MAX_EVENTS = 10_000
const POSITION = /^([0-9a-f]{16})\.(\d{1,15})$/

/** The latest events, with their positions. A position of another server, or one that is too old, leads to a reset. */
export class EventLog {
  /** Distinguishes the positions of this server from those of an earlier one. */
  readonly #server: string = randomBytes(8).toString('hex')
  readonly #listeners = new Set<() => void>()
  #events: WebEvent[] = []
  /** Number of the last event. */
  #last = 0

  /** The position of the last event. */
  get position(): string {
    return this.#format(this.#last)
  }

  add(event: WebEvent): void {
    this.#events.push(event)
    this.#last++
    // A quarter at a time: shifting for each event would take longer than sending it.
    if (this.#events.length > MAX_EVENTS) this.#events.splice(0, MAX_EVENTS / 4)
    for (const listener of this.#listeners) listener()
  }

  /** Lists the events after a position; a reset alone where they are not known, or without a position. */
  listAfter(position: string | undefined): NumberedWebEvent[] {
    const [, server, text = ''] = POSITION.exec(position ?? '') ?? []
    const number = Number(text)
    const first = this.#last - this.#events.length
    if (server !== this.#server || number < first || number > this.#last)
      return [{ id: this.position, event: { type: 'reset' } }]
    return this.#events
      .slice(number - first)
      .map((event, index) => ({ id: this.#format(number + index + 1), event }))
  }

  /** Calls back after each new event. Returns a function that stops it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #format(number: number): string {
    return `${this.#server}.${number}`
  }
}
