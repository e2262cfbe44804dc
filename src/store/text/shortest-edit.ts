import { type DiffRegion, isOneSided, type LinePairing, pairEqualEnds } from './diff-region.ts'
import { MyersFrontier, type SplitPoint } from './myers-frontier.ts'

/**
 * Matches old lines to new lines (-1 for none) by the fewest insertions and deletions: Myers' algorithm from both
 * ends, which splits a region where they meet. Each end stops after `maxEdits`, and the region is split at its
 * furthest position: a longer script may not be the shortest. Time is at most `maxEdits` times the lines.
 */
export function alignByShortestEdit(old: Int32Array, current: Int32Array, maxEdits: number): Int32Array {
  const pairing: LinePairing = { old, current, partners: new Int32Array(old.length).fill(-1) }
  const limit = Math.min(maxEdits, old.length + current.length)
  const [forward, backward] = [new MyersFrontier(pairing, 1, limit), new MyersFrontier(pairing, -1, limit)]
  const pending: DiffRegion[] = [{ oldFrom: 0, oldTo: old.length, newFrom: 0, newTo: current.length }]
  for (let region = pending.pop(); region !== undefined; region = pending.pop()) {
    const differing = pairEqualEnds(region, pairing)
    if (isOneSided(differing)) continue
    forward.reset(differing)
    backward.reset(differing)
    const { oldFrom, oldTo, newFrom, newTo } = differing
    const isOdd = (oldTo - oldFrom - newTo + newFrom) % 2 !== 0
    const { oldAt, newAt } = findSplitPoint(forward, backward, limit, isOdd)
    pending.push({ ...differing, oldFrom: oldAt, newFrom: newAt })
    pending.push({ ...differing, oldTo: oldAt, newTo: newAt })
  }
  return pairing.partners
}

/** Returns the position where the frontiers meet, or the furthest one. */
function findSplitPoint(
  forward: MyersFrontier,
  backward: MyersFrontier,
  maxEdits: number,
  isOdd: boolean,
): SplitPoint {
  for (let edits = 0; edits <= maxEdits; edits++) {
    // The parity of the edits decides which frontier can meet the other.
    const met = forward.advance(isOdd ? backward : null) ?? backward.advance(isOdd ? null : forward)
    if (met !== undefined) return met
  }
  const [fromStart, fromEnd] = [forward.findFurthest(), backward.findFurthest()]
  return fromStart.behind >= fromEnd.behind ? fromStart.point : fromEnd.point
}
