import type { Connection, Submittable } from 'pg'

/** An argument as it travels: text of SQL, or bytes. */
export type CallValue = string | Buffer | null

/** A prepared statement with one result. */
export interface CallStatement {
  readonly name: string
  readonly text: string
}

/** Statements that a connection has prepared, by their name. */
const preparedNames = new WeakMap<Connection, Set<string>>()

/**
 * A call of a prepared function with one result, as the client `pg` runs custom queries. Its own queries also ask for
 * the types of the result, copy the arguments several times and set a timer.
 */
export class PostgresCall implements Submittable {
  /** The result as text. Rejects with the error of the server, or with that of the connection, which has no severity. */
  readonly result: Promise<string | null>
  readonly #statement: CallStatement
  readonly #values: readonly CallValue[]
  readonly #resolve: (value: string | null) => void
  readonly #reject: (error: unknown) => void
  #value: string | null = null
  #forgetPrepared: (() => void) | undefined

  constructor(statement: CallStatement, values: readonly CallValue[]) {
    const { promise, resolve, reject } = Promise.withResolvers<string | null>()
    this.result = promise
    this.#statement = statement
    this.#values = values
    this.#resolve = resolve
    this.#reject = reject
  }

  submit(connection: Connection): void {
    const { stream } = connection
    const { name } = this.#statement
    // All messages go in one write.
    stream.cork()
    try {
      this.#prepare(connection)
      connection.bind({ statement: name, values: [...this.#values] }, true)
      connection.execute(null, true)
      connection.sync()
    } finally {
      stream.uncork()
    }
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#value = fields[0] ?? null
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#resolve(this.#value)
  }

  handleError(error: unknown): void {
    this.#forgetPrepared?.()
    this.#reject(error)
  }

  #prepare(connection: Connection): void {
    const { name, text } = this.#statement
    const names = preparedNames.get(connection) ?? new Set()
    preparedNames.set(connection, names)
    if (names.has(name)) return
    connection.parse({ name, text, types: [] }, true)
    const note = () => names.add(name)
    connection.once('parseComplete', note)
    this.#forgetPrepared = () => connection.removeListener('parseComplete', note)
  }
}
