import { mergeLines } from './merge-lines.ts'

/** How far into a file a NUL byte marks it as binary. */
const BINARY_PROBE_BYTES = 8000
/** What stands behind the last newline of a text, if nothing does. No line is the same: an empty one is empty. */
const END = '\n'

export interface MergedText {
  readonly text: string
  readonly hasConflict: boolean
}

/** Names for the three sides in conflict markers. */
export interface SideNames {
  readonly ours: string
  readonly theirs: string
}

/** Three versions of a text merged by lines; where both sides changed the same lines, both stand between markers. */
export function mergeText(base: string, ours: string, theirs: string, names: SideNames): MergedText {
  const parts = mergeLines(linesOf(base), linesOf(ours), linesOf(theirs))
  const lines = parts.flatMap((part) => {
    if ('agreed' in part) return part.agreed
    const isEnded = part.ours.at(-1) === END || part.theirs.at(-1) === END
    return [
      `<<<<<<< ${names.ours}`,
      ...withoutEnd(part.ours),
      '=======',
      ...withoutEnd(part.theirs),
      `>>>>>>> ${names.theirs}`,
      ...(isEnded ? [END] : []),
    ]
  })
  return { text: textOf(lines), hasConflict: parts.some((part) => 'ours' in part) }
}

export function isText(bytes: Uint8Array): boolean {
  return !bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)
}

/** A carriage return is part of its line. That the text ends with a newline counts as a line of its own. */
function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines[lines.length - 1] = END
  return lines
}

function withoutEnd(lines: readonly string[]): readonly string[] {
  return lines.at(-1) === END ? lines.slice(0, -1) : lines
}

function textOf(lines: readonly string[]): string {
  return (lines.at(-1) === END ? lines.with(-1, '') : lines).join('\n')
}
