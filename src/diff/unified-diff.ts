import { formatHunk, listHunks, splitLines } from './hunks.ts'

/** Returns the hunks of a unified diff between two texts: lines that start with `@@`, a space, `-` or `+`. */
export function formatUnifiedDiff(before: string, after: string): string[] {
  const old = splitLines(before)
  return listHunks(old, splitLines(after)).flatMap((hunk) => formatHunk(hunk, old))
}
