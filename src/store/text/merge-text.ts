import { createHash } from 'node:crypto'
import { mergeLines } from './merge-lines.ts'

/** Number of bytes searched for a NUL, which marks a file as binary. */
const BINARY_PROBE_BYTES = 8000
/** Marks a final newline as its own line. It differs from every line: an empty line is ''. */
const END_OF_TEXT = '\n'

export interface MergedText {
  readonly text: string
  readonly hasConflict: boolean
}

/** Three versions of a text, each byte as a character, which preserves any encoding. */
export interface TextSides {
  readonly base: string
  readonly ours: string
  readonly theirs: string
}

/** Names of the two changed sides in conflict markers. */
export interface SideNames {
  readonly ours: string
  readonly theirs: string
}

/**
 * Merges three versions of a text by lines. Conflicting lines stand between markers, which end as the lines of ours do,
 * or with `union` one after another.
 */
export function mergeText(
  { base, ours, theirs }: TextSides,
  names: SideNames,
  style: 'markers' | 'union' = 'markers',
): MergedText {
  const parts = mergeLines(splitLines(base), splitLines(ours), splitLines(theirs))
  // Markers end as the first line does, or editors would show a file with mixed line ends.
  const carriage = /^[^\n]*\r\n/.test(ours) ? '\r' : ''
  const lines = parts.flatMap((part, index) => {
    if ('agreed' in part) return part.agreed
    const isLast = index === parts.length - 1
    const isEnded = part.ours.at(-1) === END_OF_TEXT || part.theirs.at(-1) === END_OF_TEXT
    if (style === 'union')
      return [...withoutEnd(part.ours), ...withoutEnd(part.theirs), ...(isEnded ? [END_OF_TEXT] : [])]
    const endLast = (side: readonly string[]) => (isLast ? endLine(side, carriage) : side)
    return [
      `<<<<<<< ${names.ours}${carriage}`,
      ...withoutEnd(endLast(part.ours)),
      `=======${carriage}`,
      ...withoutEnd(endLast(part.theirs)),
      `>>>>>>> ${names.theirs}${isLast && !isEnded ? '' : carriage}`,
      ...(isEnded ? [END_OF_TEXT] : []),
    ]
  })
  return { text: joinLines(lines), hasConflict: parts.some((part) => 'ours' in part) }
}

/** Returns a digest of the two versions in conflict: a text that resolves them resolves no others. */
export function digestSides({ ours, theirs }: TextSides): string {
  const lengths = `${ours.length} ${theirs.length}\n`
  return createHash('sha256').update(lengths).update(ours, 'latin1').update(theirs, 'latin1').digest('hex')
}

/** Reports whether the beginning of a file has no NUL. */
export function isText(bytes: Uint8Array): boolean {
  return !bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)
}

/** Splits a text into lines, carriage returns included. A final newline counts as its own line. */
function splitLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines[lines.length - 1] = END_OF_TEXT
  return lines
}

function withoutEnd(lines: readonly string[]): readonly string[] {
  return lines.at(-1) === END_OF_TEXT ? lines.slice(0, -1) : lines
}

/** Adds a carriage return to a last line that has none, since another line follows it between markers. */
function endLine(lines: readonly string[], carriage: string): readonly string[] {
  const last = lines.at(-1)
  const isEnded = last === undefined || last === END_OF_TEXT || last.endsWith(carriage)
  return isEnded ? lines : lines.with(-1, last + carriage)
}

function joinLines(lines: readonly string[]): string {
  return (lines.at(-1) === END_OF_TEXT ? lines.with(-1, '') : lines).join('\n')
}
