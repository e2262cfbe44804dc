import { mergeLines } from './merge-lines.ts'

/** How far into a file a NUL byte marks it as binary. */
const BINARY_PROBE_BYTES = 8000
/** What stands behind the last newline of a text, if nothing does. No line is the same: an empty one is empty. */
const END_OF_TEXT = '\n'

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
  const parts = mergeLines(splitLines(base), splitLines(ours), splitLines(theirs))
  const lines = parts.flatMap((part) => {
    if ('agreed' in part) return part.agreed
    const isEnded = part.ours.at(-1) === END_OF_TEXT || part.theirs.at(-1) === END_OF_TEXT
    return [
      `<<<<<<< ${names.ours}`,
      ...withoutEnd(part.ours),
      '=======',
      ...withoutEnd(part.theirs),
      `>>>>>>> ${names.theirs}`,
      ...(isEnded ? [END_OF_TEXT] : []),
    ]
  })
  return { text: joinLines(lines), hasConflict: parts.some((part) => 'ours' in part) }
}

export function isText(bytes: Uint8Array): boolean {
  return !bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)
}

/** A carriage return is part of its line. That the text ends with a newline counts as a line of its own. */
function splitLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines[lines.length - 1] = END_OF_TEXT
  return lines
}

function withoutEnd(lines: readonly string[]): readonly string[] {
  return lines.at(-1) === END_OF_TEXT ? lines.slice(0, -1) : lines
}

function joinLines(lines: readonly string[]): string {
  return (lines.at(-1) === END_OF_TEXT ? lines.with(-1, '') : lines).join('\n')
}
