import { diffLines, type LineChange } from './line-diff.ts'

/** A part of a merge: lines both sides can live with, or what each of them has where they cannot. */
export type MergedPart =
  | { readonly agreed: readonly string[] }
  | { readonly ours: readonly string[]; readonly theirs: readonly string[] }

/**
 * Three lists of lines merged (diff3). A change of one side is taken; where changes of both overlap or touch, they are
 * a conflict unless they come to the same.
 */
export function mergeLines(
  base: readonly string[],
  ours: readonly string[],
  theirs: readonly string[],
): MergedPart[] {
  const [ourSide, theirSide] = [new MergeSide(base, ours), new MergeSide(base, theirs)]
  const parts: MergedPart[] = []
  let at = 0
  for (;;) {
    const from = Math.min(ourSide.nextStart, theirSide.nextStart)
    if (from === Number.POSITIVE_INFINITY) break
    const to = findRegionEnd(from, ourSide, theirSide)
    if (from > at) parts.push({ agreed: base.slice(at, from) })
    parts.push(mergeRegion(ourSide.takeRegion(from, to), theirSide.takeRegion(from, to)))
    at = to
  }
  if (at < base.length) parts.push({ agreed: base.slice(at) })
  return parts
}

/** The end of the changes that overlap or touch one another from a line of the base on. */
function findRegionEnd(from: number, ourSide: MergeSide, theirSide: MergeSide): number {
  let end = from
  for (let isGrowing = true; isGrowing; ) {
    const grown = Math.max(ourSide.findChangesEnd(end), theirSide.findChangesEnd(end))
    isGrowing = grown > end
    end = Math.max(end, grown)
  }
  return end
}

interface RegionLines {
  readonly lines: readonly string[]
  readonly isChanged: boolean
}

function mergeRegion(ours: RegionLines, theirs: RegionLines): MergedPart {
  if (!theirs.isChanged || hasSameLines(ours.lines, theirs.lines)) return { agreed: ours.lines }
  return ours.isChanged ? { ours: ours.lines, theirs: theirs.lines } : { agreed: theirs.lines }
}

function hasSameLines(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((line, at) => line === others[at])
}

/** One side of a merge, read from the beginning to the end by lines of the base. */
class MergeSide {
  readonly #lines: readonly string[]
  readonly #changes: readonly LineChange[]
  #next = 0
  #peeked = 0
  /** How many lines more than the base it has so far. */
  #shift = 0

  constructor(base: readonly string[], lines: readonly string[]) {
    this.#lines = lines
    this.#changes = diffLines(base, lines)
  }

  /** Where its next change begins in the base. */
  get nextStart(): number {
    return this.#changes[this.#next]?.oldStart ?? Number.POSITIVE_INFINITY
  }

  /** Where the last of its changes ends that begin at a line of the base or before; 0 if it has none left. */
  findChangesEnd(line: number): number {
    while ((this.#changes[this.#peeked]?.oldStart ?? Number.POSITIVE_INFINITY) <= line) this.#peeked++
    const last = this.#changes[this.#peeked - 1]
    return last === undefined ? 0 : last.oldStart + last.oldLines.length
  }

  /** What it has in place of lines of the base. No change reaches over the ends of them. */
  takeRegion(from: number, to: number): RegionLines {
    const start = from + this.#shift
    const isChanged = this.#next < this.#peeked
    for (; this.#next < this.#peeked; this.#next++) {
      const change = this.#changes[this.#next]
      this.#shift += (change?.newLines.length ?? 0) - (change?.oldLines.length ?? 0)
    }
    return { lines: this.#lines.slice(start, to + this.#shift), isChanged }
  }
}
