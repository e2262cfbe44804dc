import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import type { PostgresConnection } from './postgres-connection.ts'

/** Time between two hints of one process. */
const INTERVAL_MS = 100
/** A hint is a transaction of its own, which need not wait for the disk. */
const ANNOUNCE = { text: "select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)" }
/** Time without a read after which hints are not worth a connection. */
const IDLE_MS = 10_000
/** Limit of vaults in one hint: PostgreSQL limits its length. Others find the rest when they read the change count. */
const MAX_VAULTS = 400

export interface HintListener {
  readonly onHint: (vaults: readonly number[]) => void
  /** The connection broke: hints may be lost with it. */
  readonly onLoss: () => void
}

/**
 * Hints between the openers of a home that somebody changed a vault. Sent after the acknowledgement, and one for many
 * commits: inside of a commit's transaction, a hint would make all writers wait for each other. Nothing depends on
 * hints: a pooler does not pass them on, and a broken connection loses them.
 */
export class PostgresHints {
  readonly #connection: PostgresConnection
  readonly #channel: string
  /** Sender of own hints, which are ignored. */
  readonly #id: string = randomUUID()
  #announcing: Promise<void> | undefined
  /** Vaults with commits that no hint has named yet. */
  readonly #pendingVaults = new Set<number>()
  #client: Promise<Client | undefined> | undefined
  #socket: Socket | undefined
  #idleTimer: NodeJS.Timeout | undefined
  readonly #closing = new AbortController()

  constructor(connection: PostgresConnection) {
    this.#connection = connection
    this.#channel = `coppice_${connection.address.schema}`
  }

  /** Sends a hint about vaults soon; returns at once. */
  announce(vaults: Iterable<number>): void {
    for (const vault of vaults) this.#pendingVaults.add(vault)
    if (this.#pendingVaults.size === 0) return
    this.#announcing ??= this.#announceAll().finally(() => {
      this.#announcing = undefined
    })
  }

  /**
   * Calls back for each hint of others with the vaults it names, on a connection of its own. Connects again after a
   * loss, if called again. Disconnects if it is not called for some seconds.
   */
  listen(listener: HintListener): void {
    if (this.#closing.signal.aborted) return
    this.#client ??= this.#connect(listener)
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => void this.#disconnect(listener), IDLE_MS).unref()
  }

  /** Ends the connection; hints may be missed from now on. */
  async #disconnect({ onLoss }: HintListener): Promise<void> {
    const client = await this.#client
    this.#client = undefined
    onLoss()
    await client?.end().catch(() => {})
  }

  async close(): Promise<void> {
    this.#closing.abort()
    clearTimeout(this.#idleTimer)
    // A program that waits for the close must not end before it.
    this.#socket?.ref()
    await this.#announcing
    const client = await this.#client
    await client?.end().catch(() => {})
  }

  async #announceAll(): Promise<void> {
    while (this.#pendingVaults.size > 0) {
      // Commits of this turn share a hint.
      await new Promise((resolve) => setImmediate(resolve))
      const vaults = [...this.#pendingVaults].slice(0, MAX_VAULTS)
      this.#pendingVaults.clear()
      await this.#send(vaults).catch(() => {})
      // The first hint goes at once. Every listener gets every hint, so the next ones wait for more commits.
      await delay(INTERVAL_MS, undefined, { ref: false, signal: this.#closing.signal }).catch(() => {})
    }
  }

  async #send(vaults: readonly number[]): Promise<void> {
    const values = [this.#channel, [this.#id, ...vaults].join(' ')]
    const client = await this.#client
    if (client === undefined) await this.#connection.read(ANNOUNCE, values)
    else await client.query(ANNOUNCE.text, values)
  }

  /** Connects and listens; undefined if that fails. */
  async #connect({ onHint, onLoss }: HintListener): Promise<Client | undefined> {
    // Listening keeps no program from its end.
    const socket = new Socket().unref()
    const client = this.#connection.createClient(socket)
    this.#socket = socket
    const forget = () => {
      this.#client = undefined
      onLoss()
    }
    client.on('error', forget)
    client.on('notification', ({ payload = '' }) => {
      const [sender, ...vaults] = payload.split(' ')
      if (sender !== this.#id) onHint(vaults.map(Number))
    })
    try {
      await client.connect()
      await client.query(`listen ${this.#channel}`)
      return client
    } catch {
      this.#client = undefined
      // It may be connected, and only unable to listen.
      await client.end().catch(() => {})
      return undefined
    }
  }
}
