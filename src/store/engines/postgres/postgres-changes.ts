import type { MaybePromise } from '../../engine.ts'
import type { ReadRows } from './postgres-connection.ts'
import type { Freshness } from './postgres-url.ts'

/** Age at which a count is read again. */
const MAX_AGE_MS = 1000
/** Stands for the whole home. */
const ALL_VAULTS = 0
/**
 * The state that a new transaction sees. It changes with every commit, and reading it touches no table: a counter
 * in a row would make all writers wait for each other.
 */
const SNAPSHOT = { name: 'coppice_snapshot', text: 'select pg_current_snapshot()::text' }

/** Changes of one vault that are known here. */
interface VaultChanges {
  count: number
  /** Time of the last read of the database. */
  readAt: number
  /** Number of the snapshot at that time. */
  snapshot: number
  /** Number of expiries before that read. */
  expiries: number
}

/**
 * The change counts of a home and its vaults: numbers that change when anybody has committed. A hint changes those of
 * the home and the vaults it names. A count that was not compared with the database for a second is read again; so is
 * every count with `strict` freshness.
 */
export class PostgresChanges {
  readonly #readRows: ReadRows
  readonly #freshness: Freshness
  readonly #vaults = new Map<number, VaultChanges>()
  /** The last snapshot, and the number of different ones so far. */
  #snapshot: unknown
  #snapshots = 0
  #reading: Promise<void> | undefined
  #expiries = 0

  constructor(readRows: ReadRows, freshness: Freshness) {
    this.#readRows = readRows
    this.#freshness = freshness
  }

  /**
   * Returns the change count of a vault; that of the home without one.
   * @param onAge called when a count of `notified` freshness is too old: hints save such reads, and need a connection.
   */
  read(vault: number | undefined, onAge: () => void): MaybePromise<number> {
    const changes = this.#findOrAdd(vault ?? ALL_VAULTS)
    if (this.#freshness === 'notified') {
      if (this.#isRecent(changes)) return changes.count
      if (changes.snapshot > 0) onAge()
    }
    return this.#readCount(changes)
  }

  /** Counts a change of some vaults, which others have committed. */
  add(vaults: readonly number[]): void {
    for (const vault of [ALL_VAULTS, ...vaults]) {
      const changes = this.#vaults.get(vault)
      if (changes !== undefined) changes.count++
    }
  }

  /** Makes the next read of every vault ask the database. */
  expire(): void {
    this.#expiries++
  }

  #isRecent({ readAt, expiries }: VaultChanges): boolean {
    return expiries === this.#expiries && performance.now() - readAt < MAX_AGE_MS
  }

  #findOrAdd(vault: number): VaultChanges {
    const found = this.#vaults.get(vault)
    if (found !== undefined) return found
    const changes = { count: 0, readAt: Number.NEGATIVE_INFINITY, snapshot: 0, expiries: 0 }
    this.#vaults.set(vault, changes)
    return changes
  }

  async #readCount(changes: VaultChanges): Promise<number> {
    const startedAt = performance.now()
    const expiries = this.#expiries
    await this.#readSnapshot()
    changes.readAt = Math.max(changes.readAt, startedAt)
    // An expiry during the read stays valid: the answer may be older.
    changes.expiries = Math.max(changes.expiries, expiries)
    if (changes.snapshot !== this.#snapshots) changes.count++
    changes.snapshot = this.#snapshots
    return changes.count
  }

  /** Reads the snapshot. Calls of one turn share a read. A later call sends its own: an answer on its way may be too old. */
  #readSnapshot(): Promise<void> {
    this.#reading ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        this.#reading = undefined
        this.#readNow().then(resolve, reject)
      })
    })
    return this.#reading
  }

  async #readNow(): Promise<void> {
    const [[snapshot] = []] = await this.#readRows(SNAPSHOT)
    if (snapshot === this.#snapshot) return
    this.#snapshot = snapshot
    this.#snapshots++
  }
}
