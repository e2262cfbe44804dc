import type { PostgresConnection, SqlStatement } from './postgres-connection.ts'
import { qualify } from './postgres-setup.ts'

/**
 * Incarnations of the database: the time from one crash to the next has a number. For each vault, that in which its
 * journal was first read here. A crash may take commits that did not wait for the disk.
 * What is known of a vault from before is then wrong, so its next commit is refused.
 */
export class PostgresIncarnations {
  readonly #connection: PostgresConnection
  readonly #statement: SqlStatement
  readonly #byVault = new Map<number, string>()
  #current: string | undefined

  /** @param current the one in which the home was opened. */
  constructor(connection: PostgresConnection, current: string | undefined) {
    this.#connection = connection
    this.#statement = { text: qualify('select S.incarnation()', connection.address.schema) }
    this.#current = current
  }

  /** Notes that the journal of a vault is about to be read. */
  note(vault: number): void {
    if (this.#current !== undefined && !this.#byVault.has(vault)) this.#byVault.set(vault, this.#current)
  }

  /** Returns the incarnation in which the journal of a vault was first read here. */
  async get(vault: number): Promise<string> {
    const noted = this.#byVault.get(vault)
    if (noted !== undefined) return noted
    if (this.#current === undefined) {
      const [[number] = []] = await this.#connection.read(this.#statement)
      this.#current = String(number)
    }
    this.note(vault)
    return this.#byVault.get(vault) ?? this.#current
  }

  /** Called after a crash was reported: the vault is read again. Others learn of the crash at their own commits. */
  forget(vault: number): void {
    this.#byVault.delete(vault)
    this.#current = undefined
  }
}
