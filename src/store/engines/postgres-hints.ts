import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import type { PostgresConnection } from './postgres-connection.ts'

const ANNOUNCE = { text: 'select pg_notify($1, $2)' }

/**
 * Hints between the openers of a home that something was committed. Sent after the acknowledgement, and one for many
 * commits: inside of a commit's transaction, a hint would make all writers wait for each other. Nothing depends on
 * hints: a pooler does not pass them on, and a broken connection loses them.
 */
export class PostgresHints {
  readonly #connection: PostgresConnection
  readonly #channel: string
  /** Own hints are no news. */
  readonly #id: string = randomUUID()
  #announcing: Promise<void> | undefined
  #isDue = false
  #listener: Promise<Client | undefined> | undefined
  #isClosed = false

  constructor(connection: PostgresConnection) {
    this.#connection = connection
    this.#channel = `coppice_${connection.address.schema}`
  }

  /** Sends a hint soon; returns at once. */
  announce(): void {
    this.#isDue = true
    this.#announcing ??= this.#announceAll().finally(() => {
      this.#announcing = undefined
    })
  }

  /** Calls back for each hint of others, on a connection of its own. Connects again after a loss, if called again. */
  listen(onHint: () => void): void {
    if (this.#isClosed) return
    this.#listener ??= this.#connect(onHint)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#announcing
    const listener = await this.#listener
    await listener?.end().catch(() => {})
  }

  async #announceAll(): Promise<void> {
    while (this.#isDue) {
      // Commits of this turn share a hint.
      await new Promise((resolve) => setImmediate(resolve))
      this.#isDue = false
      await this.#send().catch(() => {})
    }
  }

  async #send(): Promise<void> {
    const values = [this.#channel, this.#id]
    const listener = await this.#listener
    if (listener === undefined) await this.#connection.read(ANNOUNCE, values)
    else await listener.query(ANNOUNCE.text, values)
  }

  async #connect(onHint: () => void): Promise<Client | undefined> {
    const client = this.#connection.createClient()
    const forget = () => {
      this.#listener = undefined
      // Hints may have been lost with the connection.
      onHint()
    }
    client.on('error', forget)
    client.on('notification', ({ payload }) => {
      if (payload !== this.#id) onHint()
    })
    try {
      await client.connect()
      await client.query(`listen ${this.#channel}`)
      return client
    } catch {
      this.#listener = undefined
      return undefined
    }
  }
}
