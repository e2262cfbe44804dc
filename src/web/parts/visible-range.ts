/** Rows of a list: from `first` up to, not including, `end`. */
export interface RowRange {
  readonly first: number
  readonly end: number
}

/** Rows before and behind the view, so that a quick scroll shows no gap. */
const OVERSCAN = 12

/** Returns the rows that a view of this height shows, with some before and behind it. */
export function findVisibleRange(top: number, height: number, rowHeight: number, count: number): RowRange {
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight) - OVERSCAN))
  return { first, end: Math.min(count, Math.ceil((top + height) / rowHeight) + OVERSCAN) }
}
