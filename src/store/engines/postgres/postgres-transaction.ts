import type { PoolClient } from 'pg'
import type { CallStatement, CallValue } from './postgres-call.ts'

/** An open transaction, which ends with its only call. It holds its locks until then. */
export class PostgresTransaction implements AsyncDisposable {
  readonly #client: PoolClient
  readonly #release: (isBroken: boolean) => void
  #isOpen = true

  /** @param release gives the client back; a broken one is closed. */
  constructor(client: PoolClient, release: (isBroken: boolean) => void) {
    this.#client = client
    this.#release = release
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Calls a function and commits. Returns its result as text. Fails as `PostgresConnection.call`. */
  async call({ text }: CallStatement, values: readonly CallValue[]): Promise<string | null> {
    this.#isOpen = false
    const query = { text, values: [...values], rowMode: 'array' as const }
    let isBroken = true
    try {
      const [[result] = []] = (await this.#client.query<unknown[]>(query)).rows
      await this.#client.query('commit')
      isBroken = false
      return result === undefined || result === null ? null : String(result)
    } finally {
      this.#release(isBroken)
    }
  }

  /** Rolls back, if nothing was called. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    const isRolledBack = await this.#client.query('rollback').then(
      () => true,
      () => false,
    )
    this.#release(!isRolledBack)
  }
}
