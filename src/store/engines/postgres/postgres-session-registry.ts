import { isVfsError } from '../../../vfs/index.ts'
import type { SessionRegistry, SessionRegistryEntry } from '../../sessions/session-registry.ts'
import type { PostgresConnection, SqlRow } from './postgres-connection.ts'
import { qualify } from './postgres-schema.ts'

/** Interval at which a session looks for collections: each look is a trip. */
const ANSWER_INTERVAL_MS = 200

/** The entry of this process, as a commit has to find it. */
export interface SessionFence {
  readonly id: string
  /** Changes if the entry is removed and published again. */
  readonly epoch: string
}

/** The session registry of a home in PostgreSQL: a row for each entry, with the time of the database. */
export class PostgresSessionRegistry implements SessionRegistry {
  readonly answerIntervalMs: number = ANSWER_INTERVAL_MS
  readonly #connection: PostgresConnection
  readonly #sql: Readonly<Record<'publish' | 'remove' | 'listIds' | 'listEntries', string>>
  /** True for a role that may only read: it publishes nothing if it has no rights on sessions either. */
  readonly #isReadOnly: boolean
  #isRefused = false
  #fence: SessionFence | undefined
  /** Entry that was published after a collection removed the one of the fence. */
  #nextFence: SessionFence | undefined

  constructor(connection: PostgresConnection, isReadOnly: boolean) {
    this.#connection = connection
    this.#isReadOnly = isReadOnly
    const { schema } = connection.address
    this.#sql = {
      publish: qualify('select S.publish($1, $2)', schema),
      remove: qualify('delete from S.sessions where id = $1', schema),
      listIds: qualify('select id from S.sessions', schema),
      listEntries: qualify('select id, text, extract(epoch from time) * 1000 from S.sessions', schema),
    }
  }

  /**
   * Entry that commits of this process depend on; undefined if it has none. One that a collection removed stays until a
   * commit was refused: what was read under it may be gone, also if there is another entry by now.
   */
  get fence(): SessionFence | undefined {
    return this.#fence
  }

  /** Forgets the entry, which a collection removed. */
  dropFence(fence: SessionFence): void {
    if (this.#fence !== fence) return
    this.#fence = this.#nextFence
    this.#nextFence = undefined
  }

  async publish(id: string, text: string): Promise<boolean> {
    if (this.#isRefused) return false
    const rows = await this.#publish(id, text)
    if (rows === undefined) return false
    const [[found] = []] = rows
    const epoch = String(found)
    const isNew = epoch !== (this.#nextFence ?? this.#fence)?.epoch
    // Collections publish an empty text: they hold nothing.
    if (text === '' || !isNew) return isNew
    if (this.#fence === undefined) this.#fence = { id, epoch }
    else this.#nextFence = { id, epoch }
    return true
  }

  async remove(id: string): Promise<void> {
    if (this.#isRefused) return
    if (this.#fence?.id === id) [this.#fence, this.#nextFence] = [undefined, undefined]
    await this.#connection.read({ text: this.#sql.remove }, [id])
  }

  async listIds(): Promise<readonly string[]> {
    const rows = await this.#connection.read({ text: this.#sql.listIds })
    return rows.map(([id]) => String(id))
  }

  async listEntries(): Promise<readonly SessionRegistryEntry[]> {
    const rows = await this.#connection.read({ text: this.#sql.listEntries })
    return rows.map(([id, text, time]) => ({ id: String(id), text: String(text), time: Number(time) }))
  }

  /** Publishes an entry; undefined if this role, or a standby, may not. A collection then does not wait for this process. */
  async #publish(id: string, text: string): Promise<SqlRow[] | undefined> {
    try {
      return await this.#connection.read({ text: this.#sql.publish }, [id, text])
    } catch (error) {
      this.#isRefused = this.#isReadOnly && (isVfsError(error, 'EACCES') || isVfsError(error, 'EROFS'))
      if (this.#isRefused) return undefined
      throw error
    }
  }
}
