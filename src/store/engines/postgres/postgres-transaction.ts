import type { PoolClient } from 'pg'
import { Mutex } from '../../../machine/index.ts'
import type { CallStatement, CallValue } from './postgres-call.ts'

/** An open transaction, which ends with its only call. It holds its locks until then. */
export class PostgresTransaction implements AsyncDisposable {
  readonly #client: PoolClient
  readonly #release: (isBroken: boolean) => void
  /** The client takes one statement at a time. */
  readonly #mutex = new Mutex()
  #isOpen = true
  #isBroken = false

  /** @param release gives the client back; a broken one is closed. */
  constructor(client: PoolClient, release: (isBroken: boolean) => void) {
    this.#client = client
    this.#release = release
  }

  get isOpen(): boolean {
    return this.#isOpen && !this.#isBroken
  }

  /**
   * Reads what is committed by now, while the transaction is open; undefined after that. What it reads changes nothing.
   * A program that has a connection must not wait for another one: a pooler may have given them all to others, who wait
   * for its commit.
   */
  read(
    { text }: { readonly text: string },
    values: readonly unknown[] = [],
  ): Promise<unknown[][] | undefined> {
    return this.#mutex.run(async () => {
      if (!this.isOpen) return undefined
      const query = { text, values: [...values], rowMode: 'array' as const }
      try {
        return (await this.#client.query<unknown[]>(query)).rows
      } catch {
        // The transaction is over. The reader asks on another connection.
        this.#isBroken = true
        return undefined
      }
    })
  }

  /** Calls a function and commits. Returns its result as text. Fails as `PostgresConnection.call`. */
  call({ text }: CallStatement, values: readonly CallValue[]): Promise<string | null> {
    this.#isOpen = false
    return this.#mutex.run(async () => {
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
    })
  }

  /** Rolls back, if nothing was called. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    await this.#mutex.run(async () => {
      const rollback = this.#isBroken ? Promise.reject(new Error('broken')) : this.#client.query('rollback')
      const isRolledBack = await rollback.then(
        () => true,
        () => false,
      )
      this.#release(!isRolledBack)
    })
  }
}
