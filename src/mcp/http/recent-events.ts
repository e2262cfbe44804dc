import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'

const MAX_EVENTS = 1000
const MAX_CHARACTERS = 2 * 1024 * 1024

interface StoredEvent {
  readonly streamId: string
  readonly message: JSONRPCMessage
  readonly size: number
}

/** Last events of one session, replayed to a client after its connection broke. */
export class RecentEvents implements EventStore {
  readonly #events = new Map<number, StoredEvent>()
  #next = 1
  #size = 0

  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    const id = this.#next++
    const size = JSON.stringify(message).length
    this.#events.set(id, { streamId, message, size })
    this.#size += size
    this.#evict()
    return String(id)
  }

  async getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    return this.#events.get(Number(eventId))?.streamId
  }

  /** Sends the events after an event of its stream. An evicted event is an error: there may be a gap. */
  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const last = Number(lastEventId)
    const streamId = this.#events.get(last)?.streamId
    if (streamId === undefined)
      throw new Error(`the event ${lastEventId} is no longer known; start a new session`)
    for (const [id, event] of this.#events) {
      if (id > last && event.streamId === streamId && isMessage(event)) await send(String(id), event.message)
    }
    return streamId
  }

  #evict(): void {
    for (const [id, { size }] of this.#events) {
      if (this.#events.size <= MAX_EVENTS && this.#size <= MAX_CHARACTERS) return
      this.#events.delete(id)
      this.#size -= size
    }
  }
}

/** The event that opens a stream carries only its id. */
function isMessage({ message }: StoredEvent): boolean {
  return Object.keys(message).length > 0
}
