import type { Batch, JournalRow, RecordRow } from '../engine.ts'

/** What a batch is held against: the home as the batch's own transaction sees it. */
export interface CommittedState {
  readonly record: (key: string) => Uint8Array | undefined
  readonly findBlob: (hash: Uint8Array) => number | undefined
  /** Whether the vault's journal has a row at this place or behind it: older ones may have been swept. */
  readonly isTaken: (row: JournalRow) => boolean
}

/** Whether everything is as a batch takes it to be. If not, the batch is refused. */
export function canCommit({ expect = [], requires = [], journal = [] }: Batch, now: CommittedState): boolean {
  return (
    expect.every((row) => isSameRecord(now.record(row.key), row)) &&
    requires.every(({ hash, blob }) => now.findBlob(hash) === blob) &&
    listFirstRows(journal).every((row) => !now.isTaken(row))
  )
}

/** The first row a batch appends to each journal. If its place is free, so are those behind it. */
export function listFirstRows(journal: readonly JournalRow[]): JournalRow[] {
  return [...new Map(journal.toReversed().map((row) => [row.vault, row])).values()]
}

function isSameRecord(found: Uint8Array | undefined, { bytes }: RecordRow): boolean {
  if (found === undefined || bytes === null) return found === undefined && bytes === null
  return Buffer.compare(found, bytes) === 0
}
