import type { Batch, JournalRow, RecordRow } from '../engine.ts'

/** The state a batch is checked against, as its own transaction sees it. */
export interface CommittedState {
  readonly record: (key: string) => Uint8Array | undefined
  readonly findBlob: (hash: Uint8Array) => number | undefined
  /** Reports whether the vault's journal has this row or a later one: older rows may have been swept. */
  readonly isTaken: (row: JournalRow) => boolean
}

/** Reports whether the expectations of a batch hold. If not, the batch is refused. */
export function canCommit(
  { expect = [], requires = [], journal = [] }: Batch,
  current: CommittedState,
): boolean {
  return (
    expect.every((row) => isSameRecord(current.record(row.key), row)) &&
    requires.every(({ hash, blob }) => current.findBlob(hash) === blob) &&
    listFirstRows(journal).every((row) => !current.isTaken(row))
  )
}

/** Returns the first row a batch appends to each journal. If its number is free, so are the following. */
export function listFirstRows(journal: readonly JournalRow[]): readonly JournalRow[] {
  if (journal.length <= 1) return journal
  const firstRows = new Map<number, JournalRow>()
  for (const row of journal) if (!firstRows.has(row.vault)) firstRows.set(row.vault, row)
  return [...firstRows.values()]
}

function isSameRecord(found: Uint8Array | undefined, { bytes }: RecordRow): boolean {
  if (found === undefined || bytes === null) return found === undefined && bytes === null
  return Buffer.compare(found, bytes) === 0
}
