import type { ServerResponse } from 'node:http'
import type { EventLog } from './event-log.ts'
import { securityHeaders } from './response-headers.ts'

/** Pages that follow the events at most. */
const MAX_STREAMS = 32
/** Bytes that a page may be behind. It reconnects, and catches up by its position. */
const MAX_BEHIND_BYTES = 1024 * 1024
const HEARTBEAT_MS = 15_000

/** The open event streams. */
export class EventStreams {
  readonly #log: EventLog
  /** Redacts and formats an event. */
  readonly #toJson: (event: unknown) => string
  readonly #open = new Set<ServerResponse>()

  constructor(log: EventLog, toJson: (event: unknown) => string) {
    this.#log = log
    this.#toJson = toJson
  }

  get size(): number {
    return this.#open.size
  }

  get isFull(): boolean {
    return this.#open.size >= MAX_STREAMS
  }

  /** Sends the events after a position, and all that follow, until the page leaves. */
  open(response: ServerResponse, after: string | undefined): void {
    const { socket } = response
    // A page that is gone already would never be noticed.
    if (socket === null || socket.destroyed || socket.readableEnded) {
      response.destroy()
      return
    }
    // A closed tab sends no more, and Node would keep a response to it open.
    socket.once('end', () => response.destroy())
    response.writeHead(200, { ...securityHeaders, 'content-type': 'text/event-stream; charset=utf-8' })
    this.#open.add(response)
    let position = after
    const send = () => {
      for (const { id, event } of this.#log.listAfter(position)) {
        position = id
        response.write(`id: ${id}\ndata: ${this.#toJson(event)}\n\n`)
      }
      if (response.writableLength > MAX_BEHIND_BYTES) response.destroy()
    }
    // Also keeps the connection alive where nothing happens, and notices a page that is gone.
    const heartbeat = setInterval(() => response.write(': \n\n'), HEARTBEAT_MS)
    heartbeat.unref()
    const stop = this.#log.subscribe(send)
    response.once('close', () => {
      stop()
      clearInterval(heartbeat)
      this.#open.delete(response)
    })
    response.on('error', () => response.destroy())
    response.write(': \n\n')
    send()
  }

  close(): void {
    for (const response of this.#open) response.end()
  }
}
