import { formatHunk, listHunks, splitLines } from './hunks.ts'

/** Returns the lines of all hunks between two texts, without a header. See `formatHunk`. */
export function formatUnifiedDiff(before: string, after: string): string[] {
  const old = splitLines(before)
  return listHunks(old, splitLines(after)).flatMap((hunk) => formatHunk(hunk, old))
}
