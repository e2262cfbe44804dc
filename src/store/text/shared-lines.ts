import { type DiffRegion, type LinePairing, pairEqualEnds } from './diff-region.ts'
import type { LineCounts } from './line-counts.ts'
import { alignByShortestEdit } from './shortest-edit.ts'

/** Approximate limit of steps for comparing lines, unless there are too many lines for a few edits each. */
const MAX_STEPS = 20_000_000
const MAX_EDITS = 512
const MIN_EDITS = 32

/**
 * Pairs lines of a region without anchors. Removes lines that only one side has; the rest is often equal (empty lines
 * between new ones), and always shorter.
 */
export function alignSharedLines(region: DiffRegion, pairing: LinePairing, counts: LineCounts): void {
  const differing = pairEqualEnds(region, pairing)
  const [oldPlaces, newPlaces] = counts.withCounts(differing, pairing, () => [
    listSharedIndexes(pairing.old, differing.oldFrom, differing.oldTo, counts.inNew),
    listSharedIndexes(pairing.current, differing.newFrom, differing.newTo, counts.inOld),
  ])
  const partners = alignByShortestEdit(
    selectLines(oldPlaces, pairing.old),
    selectLines(newPlaces, pairing.current),
    getEditLimit(pairing),
  )
  for (const [index, oldAt] of oldPlaces.entries()) {
    const newAt = newPlaces[partners[index] ?? -1]
    if (newAt !== undefined) pairing.partners[oldAt] = newAt
  }
}

/** Returns the limit of edits from each end of a region: the more lines, the fewer. */
function getEditLimit({ old, current }: LinePairing): number {
  return Math.max(MIN_EDITS, Math.min(MAX_EDITS, Math.floor(MAX_STEPS / (old.length + current.length))))
}

/** Returns the indexes of lines that the other side has, too. */
function listSharedIndexes(lines: Int32Array, from: number, to: number, inOther: Int32Array): number[] {
  const indexes: number[] = []
  for (let index = from; index < to; index++) if ((inOther[lines[index] ?? -1] ?? 0) > 0) indexes.push(index)
  return indexes
}

function selectLines(indexes: readonly number[], lines: Int32Array): Int32Array {
  return Int32Array.from(indexes, (index) => lines[index] ?? -1)
}
