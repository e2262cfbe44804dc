/** Lines of both sides that stand opposite each other; the ends are not part of it. */
export interface DiffRegion {
  readonly oldFrom: number
  readonly oldTo: number
  readonly newFrom: number
  readonly newTo: number
}

/** Two lists of numbered lines, and for each line of the old one its partner in the new one, or -1. */
export interface LinePairing {
  readonly old: Int32Array
  readonly now: Int32Array
  readonly partners: Int32Array
}

/** What is left of a stretch when equal lines at both of its ends are paired. */
export function pairEqualEnds(stretch: DiffRegion, { old, now, partners }: LinePairing): DiffRegion {
  let { oldFrom, oldTo, newFrom, newTo } = stretch
  while (oldFrom < oldTo && newFrom < newTo && old[oldFrom] === now[newFrom]) partners[oldFrom++] = newFrom++
  while (oldFrom < oldTo && newFrom < newTo && old[oldTo - 1] === now[newTo - 1]) partners[--oldTo] = --newTo
  return { oldFrom, oldTo, newFrom, newTo }
}

/** Whether there is nothing left to pair. */
export function isOneSided({ oldFrom, oldTo, newFrom, newTo }: DiffRegion): boolean {
  return oldFrom === oldTo || newFrom === newTo
}
