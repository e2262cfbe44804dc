import type { DatabaseSync } from 'node:sqlite'
import type { BlobRow } from '../../engine.ts'
import { assertFormat, FIRST_FORMAT, getNeededFormat } from '../store-format.ts'
import type { SqliteStatements } from './sqlite-statements.ts'

/** The format of a store in SQLite, which only grows. */
export class SqliteFormat {
  readonly #db: DatabaseSync
  readonly #statements: SqliteStatements
  readonly #file: string
  /** As far as it is known to be committed. */
  #committed = FIRST_FORMAT

  constructor(db: DatabaseSync, statements: SqliteStatements, file: string) {
    this.#db = db
    this.#statements = statements
    this.#file = file
  }

  /** Reports whether the store has the format that blobs need. Not for use in a transaction, which may be rolled back. */
  isRaisedFor(blobs: readonly BlobRow[]): boolean {
    const needed = getNeededFormat(blobs)
    if (needed > this.#committed) this.#committed = this.#read()
    return needed <= this.#committed
  }

  /** Raises the format in the current transaction, unless it is as high. */
  raise(format: number): void {
    if (format > FIRST_FORMAT && format > this.#read()) this.#db.exec(`PRAGMA user_version = ${format}`)
  }

  /** Throws ENOTSUP if a later version has raised the format since the store was opened. */
  assertKnown(): void {
    // The oldest stores have no format.
    assertFormat(this.#file, Math.max(FIRST_FORMAT, this.#read()))
  }

  #read(): number {
    return Number(this.#statements.getValue('format'))
  }
}
