import { Socket } from 'node:net'
import type { Client } from 'pg'

/** Time without a byte in either direction after which a connection is closed, once the work was interrupted. */
const SILENCE_MS = 2000
/** The same once the server is given up: those that wait for a connection are many. */
const GIVEN_UP_MS = 1
/** Interval at which connections are looked at: TLS replaces the stream of one. */
const CHECK_MS = 250

/** Closes connections on which nothing moves after an interruption, so that nobody waits for a silent server. */
export class PostgresSilence {
  readonly #interruption: AbortSignal | undefined
  readonly #clients = new Set<Client>()
  readonly #limited = new WeakSet<Socket>()
  #timer: NodeJS.Timeout | undefined
  #isGivenUp = false

  constructor(interruption: AbortSignal | undefined) {
    this.#interruption = interruption
  }

  /** True once a connection failed after the interruption: nobody tries another. */
  get isGivenUp(): boolean {
    return this.#isGivenUp
  }

  /** Called when a connection failed during a statement, or before it was open. */
  noteFailure(): void {
    this.#isGivenUp ||= this.#interruption?.aborted === true
  }

  /** Watches a connection from before it opens until it ends. */
  add(client: Client): void {
    if (this.#clients.size === 0) this.#interruption?.addEventListener('abort', this.#begin)
    this.#clients.add(client)
    client.connection.once('end', () => this.#remove(client))
    if (this.#interruption?.aborted) this.#begin()
  }

  #remove(client: Client): void {
    this.#clients.delete(client)
    if (this.#clients.size > 0) return
    this.#interruption?.removeEventListener('abort', this.#begin)
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  readonly #begin = (): void => {
    this.#timer ??= setInterval(() => this.#limit(), CHECK_MS).unref()
    this.#limit()
  }

  #limit(): void {
    for (const { connection } of this.#clients) {
      const { stream } = connection
      if (!(stream instanceof Socket) || this.#limited.has(stream)) continue
      this.#limited.add(stream)
      stream.setTimeout(this.#isGivenUp ? GIVEN_UP_MS : SILENCE_MS, () => {
        // Once the connection has changed to TLS, nothing moves on its first stream.
        if (stream === connection.stream) stream.destroy(new Error('the server does not answer'))
      })
    }
  }
}
