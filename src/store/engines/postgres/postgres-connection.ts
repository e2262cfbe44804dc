import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client, ClientConfig, Pool, PoolClient } from 'pg'
import { VfsError } from '../../../vfs/index.ts'
import { createMissingPackageError } from '../engine-errors.ts'
import { type CallStatement, type CallValue, PostgresCall } from './postgres-call.ts'
import { getRejectionState, isLostStatement, isUnreachable, toPostgresError } from './postgres-errors.ts'
import { HeldClient } from './postgres-held-client.ts'
import { PostgresSilence } from './postgres-silence.ts'
import { PostgresTransaction } from './postgres-transaction.ts'
import type { PostgresAddress } from './postgres-url.ts'

const MAX_CONNECTIONS = 6
const CONNECT_TIMEOUT_MS = 15_000
/** A statement without an answer for this long counts as lost. */
const ANSWER_TIMEOUT_MS = 120_000
/** Time during which a home that was open waits for its database to come back. */
const PATIENCE_MS = 15_000
const MAX_READ_TRIES = 3
const KEEP_ALIVE_DELAY_MS = 10_000
const FIRST_RETRY_MS = 20
const MAX_RETRY_MS = 500

export type SqlValue = string | number | boolean | Buffer | null | readonly string[] | readonly number[]
export type SqlRow = readonly unknown[]
/** Runs a statement that may run twice. */
export type ReadRows = (statement: SqlStatement, values?: readonly SqlValue[]) => Promise<SqlRow[]>

/** A statement; those with a name are prepared once for each connection. */
export interface SqlStatement {
  readonly name?: string
  readonly text: string
}

/** A connection as readers use it. */
export interface ReadConnection {
  readonly address: Pick<PostgresAddress, 'schema'>
  readonly read: ReadRows
}

/** The connections of one engine, opened as needed. No statement needs the session state of an earlier one. */
export class PostgresConnection {
  readonly address: PostgresAddress
  /** Creates a connection on a socket, which is no part of the pool. */
  readonly createClient: (socket: Socket) => Client
  readonly #pool: Pool
  readonly #held = new HeldClient(ANSWER_TIMEOUT_MS)
  /** True until a pooler turns out to give each statement another connection. */
  #canPrepare = true
  #wasReached = false
  readonly #silence: PostgresSilence
  #closing: Promise<void> | undefined

  private constructor(address: PostgresAddress, pg: typeof import('pg'), interruption?: AbortSignal) {
    const settings = createSettings(address)
    const silence = new PostgresSilence(interruption)
    class WatchedClient extends pg.Client {
      constructor(config?: string | ClientConfig) {
        super(config)
        silence.add(this)
      }
    }
    // A program that forgets to close its home can still end.
    const pool = new pg.Pool({
      ...settings,
      max: MAX_CONNECTIONS,
      allowExitOnIdle: true,
      Client: WatchedClient,
    })
    this.address = address
    this.#silence = silence
    this.createClient = (socket) =>
      new WatchedClient({ ...settings, query_timeout: ANSWER_TIMEOUT_MS, stream: () => socket })
    this.#pool = pool
    // A connection that breaks while nobody uses it: the next statement opens another.
    pool.on('error', () => {})
    // One that breaks during a statement: the statement fails as well.
    pool.on('connect', (client) => client.on('error', () => {}))
  }

  /**
   * Creates the pool of connections, which open as needed. ENOTSUP if the package `pg` is missing.
   * @param interruption once it aborts, nothing waits longer than some seconds for a server that does not answer.
   */
  static async create(address: PostgresAddress, interruption?: AbortSignal): Promise<PostgresConnection> {
    return new PostgresConnection(address, await loadPg(address.label), interruption)
  }

  /** Runs a statement that may run twice: repeats it if the connection breaks. */
  async read(statement: SqlStatement, values: readonly SqlValue[] = []): Promise<SqlRow[]> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.runOnce(statement, values)
      } catch (error) {
        // A connection that failed has waited long enough, and nothing was sent.
        const isOver = error instanceof VfsError || tries === MAX_READ_TRIES
        if (isOver || getRejectionState(error) !== undefined)
          throw toPostgresError('read', this.address.label, error)
      }
    }
  }

  /** Runs a statement once. The error of a statement that may have been done has no state. */
  runOnce({ name, text }: SqlStatement, values: readonly SqlValue[] = []): Promise<SqlRow[]> {
    const query = { text, values: [...values], rowMode: 'array' as const }
    const run = async (statement: typeof query & { readonly name?: string }) =>
      (await this.#use((client) => client.query<unknown[]>(statement))).rows
    if (name === undefined || !this.#canPrepare) return run(query)
    return this.#prepareOr(
      () => run({ ...query, name }),
      () => run(query),
    )
  }

  /** Calls a function once, with one result as text. Fails as `runOnce`. */
  call(statement: CallStatement, values: readonly CallValue[]): Promise<string | null> {
    const callOnce = () => this.#use((client) => client.query(new PostgresCall(statement, values)).result)
    const runUnprepared = async () => {
      const [[result] = []] = await this.runOnce({ text: statement.text }, values)
      return result === undefined || result === null ? null : String(result)
    }
    return this.#canPrepare ? this.#prepareOr(callOnce, runUnprepared) : runUnprepared()
  }

  /** Runs several statements without values as one transaction. */
  async runScript(text: string): Promise<void> {
    await this.#use((client) => client.query(text))
  }

  /** Opens a transaction with a script. */
  async begin(script: string): Promise<PostgresTransaction> {
    const client = await this.#take()
    try {
      await client.query(`begin; ${script}`)
      return new PostgresTransaction(client, (isBroken) => this.#giveBack(client, isBroken))
    } catch (error) {
      this.#giveBack(client, true)
      throw toPostgresError('begin', this.address.label, error)
    }
  }

  close(): Promise<void> {
    this.#held.close()
    this.#closing ??= this.#pool.end()
    return this.#closing
  }

  /** Runs a prepared statement, or another way from the time when a pooler has lost one. */
  async #prepareOr<T>(run: () => Promise<T>, runUnprepared: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (error) {
      if (!isLostStatement(error)) throw error
      this.#canPrepare = false
      return runUnprepared()
    }
  }

  /** Runs a statement on a connection, which is closed if the statement has no answer of the server. */
  async #use<T>(run: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#take()
    try {
      const result = await run(client)
      this.#giveBack(client, false)
      return result
    } catch (error) {
      const isBroken = getRejectionState(error) === undefined
      if (isBroken) this.#silence.noteFailure()
      this.#giveBack(client, isBroken)
      throw error
    }
  }

  async #take(): Promise<PoolClient> {
    const client = this.#held.take() ?? (await this.#connect())
    this.#held.begin(client)
    return client
  }

  #giveBack(client: PoolClient, isBroken: boolean): void {
    this.#held.end(client, isBroken, this.#pool.waitingCount > 0)
  }

  /** Connects; waits for a database that was reached before. Nothing was sent if this fails. */
  async #connect(): Promise<PoolClient> {
    const startedAt = performance.now()
    for (let pause = FIRST_RETRY_MS; ; pause = Math.min(2 * pause, MAX_RETRY_MS)) {
      try {
        if (this.#silence.isGivenUp) throw new Error('it did not answer')
        const client = await this.#pool.connect()
        this.#wasReached = true
        return client
      } catch (error) {
        this.#silence.noteFailure()
        const isOver = this.#silence.isGivenUp || performance.now() - startedAt > PATIENCE_MS
        if (!this.#wasReached || isOver || this.#closing !== undefined || !isUnreachable(error))
          throw toPostgresError('connect', this.address.label, error)
        await delay(pause)
      }
    }
  }
}

async function loadPg(label: string): Promise<typeof import('pg')> {
  try {
    return await import('pg')
  } catch (cause) {
    throw createMissingPackageError(label, 'PostgreSQL', 'pg', cause)
  }
}

function createSettings(address: PostgresAddress): ClientConfig {
  const { host, port, user, password, database, ssl } = address
  return {
    port,
    ssl,
    ...(host !== undefined && { host }),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
    application_name: 'coppice',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
  }
}
