import { diffLines, type LineChange } from './line-diff.ts'

/** A part of a merge: merged lines, or both versions in conflict. */
export type MergedPart =
  | { readonly agreed: readonly string[] }
  | { readonly ours: readonly string[]; readonly theirs: readonly string[] }

/**
 * Merges three lists of lines (diff3). Applies changes of one side; overlapping or adjacent changes of both are a
 * conflict unless they are equal.
 */
export function mergeLines(
  base: readonly string[],
  ours: readonly string[],
  theirs: readonly string[],
): MergedPart[] {
  const [ourSide, theirSide] = [new MergeSide(base, ours), new MergeSide(base, theirs)]
  const parts: MergedPart[] = []
  let mergedTo = 0
  for (;;) {
    const from = Math.min(ourSide.nextStart, theirSide.nextStart)
    if (from === Number.POSITIVE_INFINITY) break
    const to = findRegionEnd(from, ourSide, theirSide)
    if (from > mergedTo) parts.push({ agreed: base.slice(mergedTo, from) })
    parts.push(mergeRegion(ourSide.takeRegion(from, to), theirSide.takeRegion(from, to)))
    mergedTo = to
  }
  if (mergedTo < base.length) parts.push({ agreed: base.slice(mergedTo) })
  return parts
}

/** Returns the end of the overlapping or adjacent changes from a base line on. */
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

/** Merges the lines of both sides in place of a base range. */
function mergeRegion(ours: RegionLines, theirs: RegionLines): MergedPart {
  if (!theirs.isChanged || hasSameLines(ours.lines, theirs.lines)) return { agreed: ours.lines }
  return ours.isChanged ? { ours: ours.lines, theirs: theirs.lines } : { agreed: theirs.lines }
}

function hasSameLines(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((line, index) => line === others[index])
}

/** One side of a merge, read sequentially by base lines. */
class MergeSide {
  readonly #lines: readonly string[]
  readonly #changes: readonly LineChange[]
  /** Index of the next change to take, and of the first behind those that `findChangesEnd` has found. */
  #next = 0
  #peeked = 0
  /** Lines added minus lines removed so far. */
  #shift = 0

  constructor(base: readonly string[], lines: readonly string[]) {
    this.#lines = lines
    this.#changes = diffLines(base, lines)
  }

  /** Base line where its next change begins. */
  get nextStart(): number {
    return this.#changes[this.#next]?.oldStart ?? Number.POSITIVE_INFINITY
  }

  /** Returns the end of the last change that begins at or before a base line; 0 if there is none. */
  findChangesEnd(line: number): number {
    while ((this.#changes[this.#peeked]?.oldStart ?? Number.POSITIVE_INFINITY) <= line) this.#peeked++
    const last = this.#changes[this.#peeked - 1]
    return last === undefined ? 0 : last.oldStart + last.oldLines.length
  }

  /** Returns its lines in place of a base range. No change crosses the range's ends. */
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
