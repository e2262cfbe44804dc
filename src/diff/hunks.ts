import { diffLines, type LineChange } from '../backends/vault/index.ts'

const CONTEXT_LINES = 3
const NO_NEWLINE = '\\ No newline at end of file'

/** Neighbouring changes of a text, whose context would touch or overlap. */
export type Hunk = readonly LineChange[]

/** Splits text into lines with their newlines, so that a missing final newline is a difference. */
export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** Lists the hunks that lead from some lines to others. */
export function listHunks(old: readonly string[], current: readonly string[]): Hunk[] {
  const hunks: LineChange[][] = []
  for (const change of diffLines(old, current)) {
    const last = hunks.at(-1)?.at(-1)
    const gap = last === undefined ? Number.POSITIVE_INFINITY : change.oldStart - getOldEnd(last)
    if (gap <= 2 * CONTEXT_LINES) hunks.at(-1)?.push(change)
    else hunks.push([change])
  }
  return hunks
}

/** Formats a hunk of a unified diff: lines that start with `@@`, a space, `-`, `+`, or `\` for a missing newline. */
export function formatHunk(changes: Hunk, old: readonly string[]): string[] {
  const [first, last] = [changes[0], changes.at(-1)]
  if (first === undefined || last === undefined) return []
  const lead = Math.min(CONTEXT_LINES, first.oldStart)
  const [oldStart, newStart] = [first.oldStart - lead, first.newStart - lead]
  const trail = Math.min(CONTEXT_LINES, old.length - getOldEnd(last))
  const oldCount = getOldEnd(last) + trail - oldStart
  const newCount = last.newStart + last.newLines.length + trail - newStart
  // Flattened at the end: a change may have more lines than a call can have arguments.
  const parts: string[][] = [
    [`@@ -${formatRange(oldStart, oldCount)} +${formatRange(newStart, newCount)} @@`],
  ]
  let next = oldStart
  for (const change of changes) {
    parts.push(prefixLines(' ', old.slice(next, change.oldStart)))
    parts.push(prefixLines('-', change.oldLines), prefixLines('+', change.newLines))
    next = getOldEnd(change)
  }
  parts.push(prefixLines(' ', old.slice(next, next + trail)))
  return parts.flat()
}

/** Applies changes to lines. The changes have the order of the lines. */
export function applyHunk(old: readonly string[], changes: Hunk): string[] {
  const parts: (readonly string[])[] = []
  let next = 0
  for (const change of changes) {
    parts.push(old.slice(next, change.oldStart), change.newLines)
    next = getOldEnd(change)
  }
  parts.push(old.slice(next))
  return parts.flat()
}

function prefixLines(sign: string, lines: readonly string[]): string[] {
  return lines.flatMap((line) =>
    line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, NO_NEWLINE],
  )
}

/** Formats a range with lines from 1; an empty range has the line before it. */
function formatRange(start: number, count: number): string {
  if (count === 1) return String(start + 1)
  return `${count === 0 ? start : start + 1},${count}`
}

function getOldEnd({ oldStart, oldLines }: LineChange): number {
  return oldStart + oldLines.length
}
