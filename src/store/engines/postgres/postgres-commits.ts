import { setTimeout as delay } from 'node:timers/promises'
import { VfsError } from '../../../vfs/index.ts'
import type { Batch } from '../../engine.ts'
import { type PackedBatch, packBatch } from './postgres-batch.ts'
import type { CallStatement, CallValue } from './postgres-call.ts'
import { commitResults, REFUSED_STATE } from './postgres-commit-results.ts'
import type { PostgresConnection } from './postgres-connection.ts'
import { getRejectionState, isRolledBack, toPostgresError } from './postgres-errors.ts'
import type { PostgresIncarnations } from './postgres-incarnations.ts'
import { createIdentity, type PostgresOutcomes } from './postgres-outcomes.ts'
import type { PostgresSessionRegistry, SessionFence } from './postgres-session-registry.ts'
import type { PostgresTransaction } from './postgres-transaction.ts'

/** Limit of attempts for a commit that is known not to have happened. */
const MAX_TRIES = 10
const RETRY_MS = 10

const NO_ROW: readonly null[] = [null, null, null]

/** Parts of an engine that commits need. */
export interface CommitContext {
  readonly connection: PostgresConnection
  readonly statement: CallStatement
  readonly outcomes: PostgresOutcomes
  readonly incarnations: PostgresIncarnations
  readonly registry: PostgresSessionRegistry
  readonly isFullyDurable: boolean
}

/** Sends batches to the commit function, and finds out what became of each. */
export class PostgresCommits {
  readonly #context: CommitContext

  constructor(context: CommitContext) {
    this.#context = context
  }

  /**
   * Commits a batch; false if it was refused. After EUNKNOWN, or if the database could not be asked for the outcome, it
   * may have been done; after any other failure it was not.
   * @param turn a transaction in which it is sent first, and which that ends
   */
  async commit(batch: Batch, turn?: PostgresTransaction): Promise<boolean> {
    const packed = packBatch(batch)
    for (let tries = 1; ; tries++) {
      const isDone = await this.#attempt(batch, packed, turn?.isOpen ? turn : this.#context.connection)
      if (isDone !== undefined) return isDone
      if (tries === MAX_TRIES) throw this.#createUnavailableError()
      await delay(RETRY_MS * tries)
    }
  }

  /** Sends a batch once; undefined if it was not done and may be sent again. */
  async #attempt(
    batch: Batch,
    packed: PackedBatch,
    caller: Pick<PostgresConnection, 'call'>,
  ): Promise<boolean | undefined> {
    const { connection, statement, outcomes, registry, incarnations, isFullyDurable } = this.#context
    if (!outcomes.areSettled) await outcomes.settleAll()
    const identity = createIdentity()
    // With full durability, a crash takes nothing that anybody has seen.
    const vault = isFullyDurable ? undefined : batch.journal?.[0]?.vault
    const incarnation = vault === undefined ? null : await incarnations.get(vault)
    const { fence } = registry
    try {
      const first = [identity, String(this.#isDurable(batch)), incarnation]
      const values = [...first, fence?.id ?? null, fence?.epoch ?? null, ...toValues(packed)]
      const result = Number(await caller.call(statement, values))
      if (result === commitResults.crashed && vault !== undefined) incarnations.forget(vault)
      return this.#decide(result, fence)
    } catch (error) {
      // Thrown here, or before anything was sent.
      if (error instanceof VfsError) throw error
      if (getRejectionState(error) === REFUSED_STATE) return false
      if (isRolledBack(error)) return undefined
      if (getRejectionState(error) !== undefined)
        throw toPostgresError('commit', connection.address.label, error)
      return (await outcomes.settle(identity, batch.journal?.[0])) || undefined
    }
  }

  #isDurable({ durable = false }: Batch): boolean {
    return durable || this.#context.isFullyDurable
  }

  /** Converts a result: true if accepted, false if refused, undefined if it may be sent again. Throws after a crash. */
  #decide(result: number, fence: SessionFence | undefined): boolean | undefined {
    if (result === commitResults.accepted) return true
    if (result === commitResults.refused) return false
    if (result === commitResults.crashed) throw createCrashError()
    if (result === commitResults.fenced && fence !== undefined) this.#leaveFence(fence)
    return undefined
  }

  /** Throws if a collection removed the session. If this process did so itself, the commit is sent again. */
  #leaveFence(fence: SessionFence): void {
    const { registry } = this.#context
    if (registry.fence !== fence) return
    registry.dropFence(fence)
    const detail =
      'a garbage collection went on without this process, which did not answer in time; read again and retry'
    throw new VfsError('EUNAVAILABLE', '/', { op: 'commit', detail })
  }

  #createUnavailableError(): VfsError {
    const { label } = this.#context.connection.address
    const detail = `the database ${label} did not take the change after ${MAX_TRIES} attempts; try again`
    return new VfsError('EUNAVAILABLE', label, { op: 'commit', detail })
  }
}

function toValues({ row, keys, checks, changes, data }: PackedBatch): readonly CallValue[] {
  const only = row === undefined ? NO_ROW : [String(row.vault), String(row.seq), String(row.size)]
  return [...only, keys, checks, changes, data]
}

/** EUNKNOWN makes the vault forget its state: rows that were acknowledged are gone. */
function createCrashError(): VfsError {
  const detail =
    "the database had a crash, which may have taken changes with durability 'process'; read before you try again"
  return new VfsError('EUNKNOWN', '/', { op: 'commit', detail })
}
