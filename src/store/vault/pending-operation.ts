import type { Batch, JournalRow, RecordRow } from '../engine.ts'
import type { Provenance } from '../files/operation.ts'
import { encodeJournalEntry } from './journal.ts'
import type { AppliedOperation, OperationPlan, OperationPreparation, PreparedOperation } from './replica.ts'

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
export interface PendingOperation extends AppliedOperation {
  readonly request: OperationRequest
  readonly extra: ReturnType<ExtraRecords>
}

/** Encodes pending operations as the next rows of a vault's journal, in a batch with the blobs they refer to. */
export function createJournalBatch(
  waiting: readonly PendingOperation[],
  vault: number,
  last: number,
  { blobs, requires }: Pick<Batch, 'blobs' | 'requires'>,
): Batch & { readonly journal: readonly JournalRow[] } {
  const journal: JournalRow[] = []
  const expect: RecordRow[] = []
  const records: RecordRow[] = []
  let frees = true
  for (const { entry, extra, frees: isFreeing } of waiting) {
    journal.push({ vault, seq: last + journal.length + 1, bytes: encodeJournalEntry(entry) })
    if (extra.expect !== undefined) expect.push(...extra.expect)
    if (extra.records !== undefined) records.push(...extra.records)
    frees &&= isFreeing
  }
  return { journal, expect, records, frees, blobs: blobs ?? [], requires: requires ?? [] }
}
