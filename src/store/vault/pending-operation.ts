import type { Batch, JournalRow, RecordRow } from '../engine.ts'
import type { Provenance } from '../files/operation.ts'
import { encodeJournalEntry } from './journal.ts'
import type { AppliedOperation, OperationPlan, OperationPreparation, PreparedOperation } from './replica.ts'

const NO_ROWS: readonly RecordRow[] = []

/** Returns what an operation's commit includes or requires; called at each attempt. */
export type ExtraRecords = () => {
  readonly expect?: readonly RecordRow[]
  readonly records?: readonly RecordRow[]
}

/** A requested operation and the callbacks for its outcome. */
export interface OperationRequest {
  readonly plan: OperationPlan
  readonly provenance: Provenance
  readonly extraRecords: ExtraRecords | undefined
  /** Time in milliseconds since the epoch; the time of the attempt if absent. */
  readonly time?: number | undefined
  /** Replaces the plan: the operation is applied once, to a fork of the files that then takes their place. */
  readonly prepare?: OperationPreparation | undefined
  /** Prepared result on the current files, for the first attempt. */
  readonly outcome?: PreparedOperation | undefined
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** An operation that is applied to the in-memory tree and waits for its commit. */
export interface PendingOperation extends OperationRequest, AppliedOperation {
  readonly extra: ReturnType<ExtraRecords>
}

/** Encodes pending operations as the next rows of a vault's journal, in a batch with the blobs they refer to. */
export function createJournalBatch(
  waiting: readonly PendingOperation[],
  vault: number,
  last: number,
  { blobs, requires }: Pick<Batch, 'blobs' | 'requires'>,
): Batch & { readonly journal: readonly JournalRow[] } {
  const journal = waiting.map(({ entry }, index) => ({
    vault,
    seq: last + index + 1,
    bytes: encodeJournalEntry(entry),
  }))
  const frees = waiting.every((operation) => operation.frees)
  const expect = waiting.flatMap(({ extra }) => extra.expect ?? NO_ROWS)
  const records = waiting.flatMap(({ extra }) => extra.records ?? NO_ROWS)
  return { journal, expect, records, frees, blobs: blobs ?? [], requires: requires ?? [] }
}
