import { Socket } from 'node:net'
import type { PoolClient } from 'pg'

/** Interval at which an idle client is given back, and calls without an answer are found. */
const CHECK_MS = 1000

/**
 * Keeps one client out of the pool while calls follow each other: to take one from the pool and give it back costs
 * timers and turns. Also ends connections that do not answer.
 */
export class HeldClient {
  readonly #answerTimeoutMs: number
  #idle: PoolClient | undefined
  /** Clients with a call in progress, and when it began. */
  readonly #busy = new Map<PoolClient, number>()
  readonly #broken = new WeakSet<PoolClient>()
  readonly #known = new WeakSet<PoolClient>()
  #timer: NodeJS.Timeout | undefined
  #wasUsed = false
  #isClosed = false

  constructor(answerTimeoutMs: number) {
    this.#answerTimeoutMs = answerTimeoutMs
  }

  /** Takes the idle client, if there is one. */
  take(): PoolClient | undefined {
    const client = this.#idle
    this.#idle = undefined
    if (client === undefined) return undefined
    setReferenced(client, true)
    if (!this.#broken.has(client)) return client
    client.release(true)
    return undefined
  }

  /** Notes that a call begins on a client. */
  begin(client: PoolClient): void {
    this.#busy.set(client, performance.now())
    this.#timer ??= setInterval(() => this.#check(), CHECK_MS).unref()
  }

  /** Ends the call of a client, and keeps it or gives it back to the pool. */
  end(client: PoolClient, isBroken: boolean, isWanted: boolean): void {
    this.#busy.delete(client)
    if (isBroken || isWanted || this.#isClosed || this.#idle !== undefined) {
      client.release(isBroken)
      return
    }
    this.#watch(client)
    this.#idle = client
    this.#wasUsed = true
    // As in the pool: a program that forgets to close its home can still end.
    setReferenced(client, false)
  }

  /** Gives the client back, now or after its call. */
  close(): void {
    this.#isClosed = true
    this.take()?.release()
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #watch(client: PoolClient): void {
    if (this.#known.has(client)) return
    this.#known.add(client)
    const note = () => this.#broken.add(client)
    client.once('error', note)
    client.once('end', note)
  }

  #check(): void {
    if (!this.#wasUsed) this.take()?.release()
    this.#wasUsed = false
    const oldest = performance.now() - this.#answerTimeoutMs
    for (const [client, startedAt] of this.#busy)
      if (startedAt < oldest) client.connection.stream.destroy(new Error('no answer in time'))
    if (this.#idle !== undefined || this.#busy.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

function setReferenced({ connection: { stream } }: PoolClient, isReferenced: boolean): void {
  if (!(stream instanceof Socket)) return
  if (isReferenced) stream.ref()
  else stream.unref()
}
