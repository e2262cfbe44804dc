import { type DiffRegion, type LinePairing, pairEqualEnds } from './diff-region.ts'
import type { LineCounts } from './line-counts.ts'
import { alignByShortestEdit } from './shortest-edit.ts'

/** Comparing lines takes about this many steps at most, for any number of lines that leaves each a few. */
const MAX_STEPS = 20_000_000
const MAX_EDITS = 512
const MIN_EDITS = 32

/**
 * Pairs lines of a stretch without anchors. Lines that only one side has can have no partner; without them, what is
 * left is often equal (empty lines between new ones), and always shorter.
 */
export function alignSharedLines(stretch: DiffRegion, pairing: LinePairing, counts: LineCounts): void {
  const differing = pairEqualEnds(stretch, pairing)
  const [oldPlaces, newPlaces] = counts.withCounts(differing, pairing, () => [
    listSharedIndexes(pairing.old, differing.oldFrom, differing.oldTo, counts.inNew),
    listSharedIndexes(pairing.now, differing.newFrom, differing.newTo, counts.inOld),
  ])
  const partners = alignByShortestEdit(
    selectLines(oldPlaces, pairing.old),
    selectLines(newPlaces, pairing.now),
    getEditLimit(pairing),
  )
  for (const [index, oldAt] of oldPlaces.entries()) {
    const newAt = newPlaces[partners[index] ?? -1]
    if (newAt !== undefined) pairing.partners[oldAt] = newAt
  }
}

/** How many edits to try from each end of a stretch: fewer, the more lines there are in all. */
function getEditLimit({ old, now }: LinePairing): number {
  return Math.max(MIN_EDITS, Math.min(MAX_EDITS, Math.floor(MAX_STEPS / (old.length + now.length))))
}

/** The places of lines that the other side has, too. */
function listSharedIndexes(lines: Int32Array, from: number, to: number, inOther: Int32Array): number[] {
  const places: number[] = []
  for (let at = from; at < to; at++) if ((inOther[lines[at] ?? -1] ?? 0) > 0) places.push(at)
  return places
}

function selectLines(places: readonly number[], lines: Int32Array): Int32Array {
  return Int32Array.from(places, (at) => lines[at] ?? -1)
}
