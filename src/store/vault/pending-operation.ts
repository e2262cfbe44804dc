import type { Batch, RecordRow } from '../engine.ts'
import type { Provenance } from '../files/operation.ts'
import { encodeJournalEntry } from './journal.ts'
import type { AppliedOperation, OperationPlan, PreparedOperation } from './replica.ts'

/** What is committed together with an operation, or must be so for it: asked for whenever it is decided. */
export type ExtraRecords = () => {
  readonly expect?: readonly RecordRow[]
  readonly records?: readonly RecordRow[]
}

/** What somebody wants done, and how he is told of the outcome. */
export interface OperationRequest {
  readonly plan: OperationPlan
  readonly by: Provenance
  readonly extraRecords: ExtraRecords | undefined
  /** When it happens, in milliseconds since the epoch; whenever it is decided, if that is absent. */
  readonly time?: number | undefined
  /** What comes of it on the files as they are, for the first time it is decided. */
  readonly outcome?: PreparedOperation | undefined
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Decided, applied to the tree in memory, and waiting to be committed. */
export interface PendingOperation extends OperationRequest, AppliedOperation {
  readonly extra: ReturnType<ExtraRecords>
}

/** Everything that waits, as rows behind the last one of a vault. */
export function createJournalBatch(
  waiting: readonly PendingOperation[],
  vault: number,
  last: number,
): Required<Pick<Batch, 'journal' | 'expect' | 'records' | 'frees'>> {
  return {
    journal: waiting.map(({ entry }, index) => ({
      vault,
      seq: last + index + 1,
      bytes: encodeJournalEntry(entry),
    })),
    expect: waiting.flatMap(({ extra }) => extra.expect ?? []),
    records: waiting.flatMap(({ extra }) => extra.records ?? []),
    frees: waiting.every(({ frees }) => frees),
  }
}
