import type { Batch, RecordRow } from '../engine.ts'
import type { Provenance } from '../files/operation.ts'
import { encodeEntry } from './journal.ts'
import type { Outcome, Performed, Plan } from './replica.ts'

/** What is committed together with an operation, or must be so for it: asked for whenever it is decided. */
export type Besides = () => {
  readonly expect?: readonly RecordRow[]
  readonly records?: readonly RecordRow[]
}

/** What somebody wants done, and how he is told of the outcome. */
export interface Request {
  readonly plan: Plan
  readonly by: Provenance
  readonly besides: Besides | undefined
  /** When it happens, in milliseconds since the epoch; whenever it is decided, if that is absent. */
  readonly time?: number | undefined
  /** What comes of it on the files as they are, for the first time it is decided. */
  readonly outcome?: Outcome | undefined
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Decided, applied to the tree in memory, and waiting to be committed. */
export interface Pending extends Request, Performed {
  readonly also: ReturnType<Besides>
}

/** Everything that waits, as rows behind the last one of a vault. */
export function batchOf(
  waiting: readonly Pending[],
  vault: number,
  last: number,
): Required<Pick<Batch, 'journal' | 'expect' | 'records' | 'frees'>> {
  return {
    journal: waiting.map(({ entry }, index) => ({ vault, seq: last + index + 1, bytes: encodeEntry(entry) })),
    expect: waiting.flatMap(({ also }) => also.expect ?? []),
    records: waiting.flatMap(({ also }) => also.records ?? []),
    frees: waiting.every(({ frees }) => frees),
  }
}
