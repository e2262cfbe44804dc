import { type DiffRegion, isOneSided, type LinePairing, pairEqualEnds } from './diff-region.ts'
import { MyersFrontier, type SplitPoint } from './myers-frontier.ts'

/**
 * Partners in the new list for the lines of the old one (-1 for none), by the fewest insertions and deletions: Myers'
 * algorithm from both ends, which cuts a stretch in two where they meet. An end gives up after so many edits, and the
 * stretch is cut at the furthest it got: beyond twice as many, the answer is a good one, not always the best.
 * The time is at most `maxEdits` times the lines.
 */
export function alignByShortestEdit(old: Int32Array, now: Int32Array, maxEdits: number): Int32Array {
  const pairing: LinePairing = { old, now, partners: new Int32Array(old.length).fill(-1) }
  const limit = Math.min(maxEdits, old.length + now.length)
  const [forward, backward] = [new MyersFrontier(pairing, 1, limit), new MyersFrontier(pairing, -1, limit)]
  const pending: DiffRegion[] = [{ oldFrom: 0, oldTo: old.length, newFrom: 0, newTo: now.length }]
  for (let stretch = pending.pop(); stretch !== undefined; stretch = pending.pop()) {
    const differing = pairEqualEnds(stretch, pairing)
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

/** Where the fronts meet, or the furthest that one of them gets. */
function findSplitPoint(
  forward: MyersFrontier,
  backward: MyersFrontier,
  maxEdits: number,
  isOdd: boolean,
): SplitPoint {
  for (let edits = 0; edits <= maxEdits; edits++) {
    // Which of the two can be the one to meet the other depends on whether the edits are even in number.
    const met = forward.advance(isOdd ? backward : null) ?? backward.advance(isOdd ? null : forward)
    if (met !== undefined) return met
  }
  const [fromStart, fromEnd] = [forward.findFurthest(), backward.findFurthest()]
  return fromStart.behind >= fromEnd.behind ? fromStart.place : fromEnd.place
}
