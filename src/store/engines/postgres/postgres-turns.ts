import type { Batch } from '../../engine.ts'
import { getTurnKey } from './postgres-commit-results.ts'
import type { PostgresConnection, SqlRow, SqlStatement, SqlValue } from './postgres-connection.ts'
import { qualify } from './postgres-schema.ts'
import type { PostgresTransaction } from './postgres-transaction.ts'

/** Limit of turns of a process: each takes a connection from those that it needs meanwhile. */
const MAX_TURNS = 3
/** Time after which the database ends the turn of a process that does not go on. */
const MAX_PAUSE_MS = 5000

/**
 * Turns of writers that were refused again and again. Every commit to a vault shares a lock, which a writer in its turn
 * has alone: from before it reads what others have committed until its own commit. PostgreSQL grants it in the order in
 * which it is asked for. Nobody waits for a turn while holding another lock of a later kind, or another turn.
 */
export class PostgresTurns {
  readonly #connection: PostgresConnection
  readonly #turns = new Map<number, PostgresTransaction>()
  #count = 0

  constructor(connection: PostgresConnection) {
    this.#connection = connection
  }

  /** Waits for the turn to commit to a vault; undefined if this process has as many turns as it may. */
  async take(vault: number): Promise<AsyncDisposable | undefined> {
    if (this.#count >= MAX_TURNS || this.#turns.has(vault)) return undefined
    this.#count++
    const lock = `set local idle_in_transaction_session_timeout = ${MAX_PAUSE_MS};
      select pg_advisory_xact_lock(${getTurnKey(String(vault))})`
    try {
      const turn = await this.#connection.begin(qualify(lock, this.#connection.address.schema))
      this.#turns.set(vault, turn)
      return { [Symbol.asyncDispose]: () => this.#end(vault, turn) }
    } catch (error) {
      this.#count--
      throw error
    }
  }

  /** Returns the open turn in which a batch is committed. */
  find({ journal = [] }: Batch): PostgresTransaction | undefined {
    const [first] = journal
    if (first === undefined || journal.some(({ vault }) => vault !== first.vault)) return undefined
    const turn = this.#turns.get(first.vault)
    return turn?.isOpen ? turn : undefined
  }

  /** Reads in an open turn; undefined if there is none. */
  async read(statement: SqlStatement, values?: readonly SqlValue[]): Promise<SqlRow[] | undefined> {
    for (const turn of this.#turns.values()) if (turn.isOpen) return turn.read(statement, values)
    return undefined
  }

  async close(): Promise<void> {
    for (const [vault, turn] of this.#turns) await this.#end(vault, turn)
  }

  async #end(vault: number, turn: PostgresTransaction): Promise<void> {
    if (this.#turns.get(vault) !== turn) return
    this.#turns.delete(vault)
    this.#count--
    await turn[Symbol.asyncDispose]()
  }
}
