import type { LineCounts } from './line-counts.ts'
import { alignShortest } from './shortest-edit.ts'
import { type Pairing, type Stretch, trimmed } from './stretch.ts'

/** Comparing lines takes about this many steps at most, for any number of lines that leaves each a few. */
const MAX_STEPS = 20_000_000
const MOST_EDITS = 512
const LEAST_EDITS = 32

/**
 * Pairs lines of a stretch without anchors. Lines that only one side has can have no partner; without them, what is
 * left is often equal (empty lines between new ones), and always shorter.
 */
export function alignShared(stretch: Stretch, pairing: Pairing, counts: LineCounts): void {
  const differing = trimmed(stretch, pairing)
  const [oldPlaces, newPlaces] = counts.during(differing, pairing, () => [
    placesOf(pairing.old, differing.oldFrom, differing.oldTo, counts.inNew),
    placesOf(pairing.now, differing.newFrom, differing.newTo, counts.inOld),
  ])
  const partners = alignShortest(
    linesAt(oldPlaces, pairing.old),
    linesAt(newPlaces, pairing.now),
    editsFor(pairing),
  )
  for (const [index, oldAt] of oldPlaces.entries()) {
    const newAt = newPlaces[partners[index] ?? -1]
    if (newAt !== undefined) pairing.partners[oldAt] = newAt
  }
}

/** How many edits to try from each end of a stretch: fewer, the more lines there are in all. */
function editsFor({ old, now }: Pairing): number {
  return Math.max(LEAST_EDITS, Math.min(MOST_EDITS, Math.floor(MAX_STEPS / (old.length + now.length))))
}

/** The places of lines that the other side has, too. */
function placesOf(lines: Int32Array, from: number, to: number, inOther: Int32Array): number[] {
  const places: number[] = []
  for (let at = from; at < to; at++) if ((inOther[lines[at] ?? -1] ?? 0) > 0) places.push(at)
  return places
}

function linesAt(places: readonly number[], lines: Int32Array): Int32Array {
  return Int32Array.from(places, (at) => lines[at] ?? -1)
}
