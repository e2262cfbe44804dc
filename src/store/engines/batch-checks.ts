import type { Batch, JournalRow, RecordRow } from '../engine.ts'

/** What a batch is held against: the home as the batch's own transaction sees it. */
export interface Present {
  readonly record: (key: string) => Uint8Array | undefined
  readonly blobOf: (hash: Uint8Array) => number | undefined
  /** Whether the vault's journal has a row at this place or behind it: older ones may have been swept. */
  readonly isTaken: (row: JournalRow) => boolean
}

/** Whether everything is as a batch takes it to be. If not, the batch is refused. */
export function isCurrent({ expect = [], requires = [], journal = [] }: Batch, now: Present): boolean {
  return (
    expect.every((row) => isSame(now.record(row.key), row)) &&
    requires.every(({ hash, blob }) => now.blobOf(hash) === blob) &&
    firstRows(journal).every((row) => !now.isTaken(row))
  )
}

/** The first row a batch appends to each journal. If its place is free, so are those behind it. */
export function firstRows(journal: readonly JournalRow[]): JournalRow[] {
  return [...new Map(journal.toReversed().map((row) => [row.vault, row])).values()]
}

function isSame(found: Uint8Array | undefined, { bytes }: RecordRow): boolean {
  if (found === undefined || bytes === null) return found === undefined && bytes === null
  return Buffer.compare(found, bytes) === 0
}
