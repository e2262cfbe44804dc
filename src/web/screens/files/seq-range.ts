import type { JournalBucket } from '../../../web-api/index.ts'

/** Rows of a journal: both ends are in it. */
export interface SeqRange {
  readonly from: number
  readonly to: number
}

/** A closer view would show single rows that are too wide. */
const MIN_ROWS = 10

/** Returns a range that is `factor` as long and keeps a row at its place; undefined for all of the journal. */
export function zoomRange(
  range: SeqRange,
  seq: number,
  factor: number,
  whole: SeqRange,
): SeqRange | undefined {
  const length = Math.max(MIN_ROWS, Math.round((range.to - range.from) * factor))
  if (length >= whole.to - whole.from) return undefined
  const share = (seq - range.from) / Math.max(1, range.to - range.from)
  const from = Math.max(whole.from, Math.min(whole.to - length, Math.round(seq - share * length)))
  return { from, to: from + length }
}

/** Returns a range of the same length with a row in it, in its middle if the row was outside. */
export function moveRange(range: SeqRange, seq: number, whole: SeqRange): SeqRange {
  if (seq >= range.from && seq <= range.to) return range
  const length = range.to - range.from
  const from = Math.max(whole.from, Math.min(whole.to - length, seq - Math.floor(length / 2)))
  return { from, to: from + length }
}

/** Returns the bucket with a row, or the last one before it. */
export function findBucket(buckets: readonly JournalBucket[], seq: number): JournalBucket | undefined {
  return buckets.findLast(({ from }) => from <= seq)
}
