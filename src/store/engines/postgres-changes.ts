import type { MaybePromise } from '../engine.ts'
import type { ReadRows } from './postgres-connection.ts'
import type { Freshness } from './postgres-url.ts'

/** Age at which a count is asked for again. */
const MAX_AGE_MS = 1000
/**
 * The state that a new transaction sees. It changes with every commit, and reading it touches no table: a counter
 * in a row would make all writers wait for each other.
 */
const SNAPSHOT = { name: 'coppice_snapshot', text: 'select pg_current_snapshot()::text' }

/** The change count of a home: a number that changes when anybody has committed. */
export class PostgresChanges {
  readonly #readRows: ReadRows
  readonly #freshness: Freshness
  #count = 0
  #snapshot: unknown
  #lastRead = Number.NEGATIVE_INFINITY
  #reading: Promise<number> | undefined

  constructor(readRows: ReadRows, freshness: Freshness) {
    this.#readRows = readRows
    this.#freshness = freshness
  }

  /** @param onAge called when a count has become too old: from then on hints are worth a connection. */
  read(onAge: () => void): MaybePromise<number> {
    if (this.#freshness === 'strict') return this.#readNow()
    if (performance.now() - this.#lastRead < MAX_AGE_MS) return this.#count
    if (this.#snapshot !== undefined) onAge()
    return this.#readNow()
  }

  /** Makes the next read ask the database. */
  expire(): void {
    this.#lastRead = Number.NEGATIVE_INFINITY
  }

  /** Calls of one turn share a question; one that is on its way may be too old for a later call. */
  #readNow(): Promise<number> {
    this.#reading ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        this.#reading = undefined
        this.#ask().then(resolve, reject)
      })
    })
    return this.#reading
  }

  async #ask(): Promise<number> {
    const begun = performance.now()
    const [[snapshot] = []] = await this.#readRows(SNAPSHOT)
    this.#lastRead = Math.max(this.#lastRead, begun)
    if (snapshot === this.#snapshot) return this.#count
    this.#snapshot = snapshot
    return ++this.#count
  }
}
