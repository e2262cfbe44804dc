import type { DiffLine } from '../../web-api/index.ts'
import { compareLines, type LineSpan } from './intraline.ts'

/** A line of a hunk. */
export interface HunkLine extends DiffLine {
  /** The marks of the words that changed; absent where the whole line did. */
  readonly spans?: readonly LineSpan[]
}

/** A row of a diff, in either view: the header of a hunk, or lines. */
export type DiffRow =
  | { readonly kind: 'hunk'; readonly hunk: number }
  | { readonly kind: 'line'; readonly hunk: number; readonly line: HunkLine }
  | {
      readonly kind: 'pair'
      readonly hunk: number
      readonly left: HunkLine | undefined
      readonly right: HunkLine | undefined
    }

/** Marks the words that changed: the nth removed line of a block is compared with the nth added one. */
function markWords(lines: readonly DiffLine[]): HunkLine[] {
  const marked: HunkLine[] = [...lines]
  for (const { removed, added } of findBlocks(lines)) {
    for (let nth = 0; nth < Math.min(removed.length, added.length); nth++) {
      const [oldIndex, newIndex] = [removed[nth] ?? 0, added[nth] ?? 0]
      const [before, after] = [lines[oldIndex], lines[newIndex]]
      if (before === undefined || after === undefined) continue
      const pair = compareLines(before.text, after.text)
      if (pair === undefined) continue
      marked[oldIndex] = { ...before, spans: pair.before }
      marked[newIndex] = { ...after, spans: pair.after }
    }
  }
  return marked
}

/** Lists the rows of hunks, one line in each. */
export function listUnifiedRows(hunks: readonly (readonly DiffLine[])[]): DiffRow[] {
  return hunks.flatMap((lines, hunk) => [
    { kind: 'hunk' as const, hunk },
    ...markWords(lines).map((line) => ({ kind: 'line' as const, hunk, line })),
  ])
}

/** Lists the rows of hunks with the old line on the left and the new one on the right. */
export function listSplitRows(hunks: readonly (readonly DiffLine[])[]): DiffRow[] {
  return hunks.flatMap((lines, hunk) => [
    { kind: 'hunk' as const, hunk },
    ...pairLines(markWords(lines)).map(([left, right]) => ({ kind: 'pair' as const, hunk, left, right })),
  ])
}

type Pair = readonly [HunkLine | undefined, HunkLine | undefined]

function pairLines(lines: readonly HunkLine[]): Pair[] {
  const pairs: Pair[] = []
  for (let index = 0; index < lines.length; ) {
    const line = lines[index]
    if (line === undefined || line.kind === 'context') {
      pairs.push([line, line])
      index++
      continue
    }
    const end = findBlockEnd(lines, index)
    const block = lines.slice(index, end)
    const removed = block.filter(({ kind }) => kind === 'removed')
    const added = block.filter(({ kind }) => kind === 'added')
    for (let row = 0; row < Math.max(removed.length, added.length); row++)
      pairs.push([removed[row], added[row]])
    index = end
  }
  return pairs
}

/** Lists the blocks of changed lines by the indexes of their lines. */
function findBlocks(lines: readonly DiffLine[]): { removed: number[]; added: number[] }[] {
  const blocks: { removed: number[]; added: number[] }[] = []
  for (let start = 0; start < lines.length; start++) {
    if (lines[start]?.kind === 'context') continue
    const end = findBlockEnd(lines, start)
    const indexes = Array.from({ length: end - start }, (_line, offset) => start + offset)
    blocks.push({
      removed: indexes.filter((index) => lines[index]?.kind === 'removed'),
      added: indexes.filter((index) => lines[index]?.kind === 'added'),
    })
    start = end
  }
  return blocks
}

function findBlockEnd(lines: readonly DiffLine[], start: number): number {
  let end = start
  while (end < lines.length && lines[end]?.kind !== 'context') end++
  return end
}
