import type { MaybePromise } from '../../engine.ts'
import type { ReadConnection, SqlStatement } from './postgres-connection.ts'
import { qualify } from './postgres-schema.ts'

/**
 * Incarnations of the database: the time from one crash to the next has a number. For each vault, that in which its
 * journal was first read here. A crash may take commits that did not wait for the disk.
 * What is known of a vault from before is then wrong, so its next commit is refused.
 */
export class PostgresIncarnations {
  readonly #connection: ReadConnection
  readonly #statement: SqlStatement
  readonly #byVault = new Map<number, string>()
  #current: string | undefined
  /** The question after a crash, until its answer is known. */
  #asked: Promise<string> | undefined
  #hasCrashed = false

  /** @param current the one in which the home was opened; undefined for a role that may only read. */
  constructor(connection: ReadConnection, current: string | undefined) {
    this.#connection = connection
    this.#statement = { text: qualify('select S.incarnation()', connection.address.schema) }
    this.#current = current
  }

  /** Notes the incarnation before the journal of a vault is read. After a crash it asks for it, and is a promise. */
  note(vault: number): MaybePromise<void> {
    if (this.#byVault.has(vault)) return
    if (this.#current !== undefined) this.#byVault.set(vault, this.#current)
    else if (this.#hasCrashed) return this.#askFor(vault)
  }

  /** Returns the incarnation in which the journal of a vault was first read here. */
  async get(vault: number): Promise<string> {
    await this.note(vault)
    return this.#byVault.get(vault) ?? this.#current ?? this.#ask()
  }

  /** Called after a crash was reported: the vault is read again. Others learn of the crash at their own commits. */
  forget(vault: number): void {
    this.#byVault.delete(vault)
    this.#hasCrashed = true
    this.#current = undefined
    this.#asked = undefined
  }

  async #askFor(vault: number): Promise<void> {
    const number = await this.#ask()
    if (!this.#byVault.has(vault)) this.#byVault.set(vault, number)
  }

  #ask(): Promise<string> {
    if (this.#asked !== undefined) return this.#asked
    const asked = this.#connection.read(this.#statement).then(([row]) => String(row?.[0]))
    this.#asked = asked
    const end = (number?: string) => {
      // Another crash may have been reported meanwhile.
      if (this.#asked !== asked) return
      this.#asked = undefined
      this.#current = number
    }
    asked.then(end, () => end())
    return asked
  }
}
