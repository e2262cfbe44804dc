import { createRandomBytes } from '../../../machine/index.ts'
import { isVfsError, VfsError } from '../../../vfs/index.ts'
import type { JournalRow } from '../../engine.ts'
import type { ReadConnection } from './postgres-connection.ts'
import { qualify } from './postgres-schema.ts'

/** A commit that was sent and whose answer did not arrive. */
interface LostCommit {
  readonly identity: string
  /** Its first journal row, which has an identity of its own. */
  readonly row: JournalRow | undefined
}

const IDENTITY_BYTES = 8
/** Random bytes are expensive one by one: a pool serves hundreds of commits. */
const POOL_BYTES = 512 * IDENTITY_BYTES

let pool: Buffer = Buffer.alloc(0)
let used = 0

/** Returns the identity of a commit: eight random bytes, as a number of SQL. */
export function createIdentity(): string {
  if (used === pool.length) {
    pool = createRandomBytes(POOL_BYTES)
    used = 0
  }
  const identity = pool.readBigInt64BE(used)
  used += IDENTITY_BYTES
  return identity.toString()
}

/**
 * Finds out what became of commits whose connection broke. A lost commit may still be running or be on its way: the
 * lookup waits for it, or makes sure that it is never done. Until that succeeded, nothing else may be read.
 */
export class PostgresOutcomes {
  readonly #connection: ReadConnection
  readonly #text: string
  readonly #lost = new Map<string, Promise<boolean> | LostCommit>()

  constructor(connection: ReadConnection) {
    this.#connection = connection
    this.#text = qualify('select S.settle($1, $2, $3, $4)', connection.address.schema)
  }

  /**
   * Reports whether a commit was done that got no answer. EUNKNOWN if its rows were pruned. If the database cannot be
   * asked, throws its error and asks again before the next statement.
   */
  settle(identity: string, row: JournalRow | undefined): Promise<boolean> {
    const settling = this.#readOutcome({ identity, row })
    this.#lost.set(identity, settling)
    return settling
  }

  /** Resolves once the outcome of every earlier commit is decided. Called before each statement. */
  async settleAll(): Promise<void> {
    for (const lost of [...this.#lost.values()]) {
      // That the rows of another commit were pruned concerns its caller alone: its outcome is decided.
      if (lost instanceof Promise) await lost.catch(ignorePruned)
      else await this.settle(lost.identity, lost.row).catch(ignorePruned)
    }
  }

  get areSettled(): boolean {
    return this.#lost.size === 0
  }

  async #readOutcome(commit: LostCommit): Promise<boolean> {
    const { identity, row } = commit
    const values = [identity, row?.vault ?? null, row?.seq ?? null, row ? Buffer.from(row.bytes) : null]
    try {
      const [[isDone] = []] = await this.#connection.read({ text: this.#text }, values)
      this.#lost.delete(identity)
      if (typeof isDone === 'boolean') return isDone
    } catch (error) {
      this.#lost.set(identity, commit)
      throw error
    }
    const detail = 'the connection broke during a commit, and its rows were pruned; read before you try again'
    throw new VfsError('EUNKNOWN', '/', { op: 'commit', detail })
  }
}

function ignorePruned(error: unknown): void {
  if (!isVfsError(error, 'EUNKNOWN')) throw error
}
