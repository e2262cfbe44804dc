/** Corresponding ranges of lines on both sides; the ends are exclusive. */
export interface DiffRegion {
  readonly oldFrom: number
  readonly oldTo: number
  readonly newFrom: number
  readonly newTo: number
}

/** Two lists of numbered lines, and the match of each old line in the new list, or -1. */
export interface LinePairing {
  readonly old: Int32Array
  readonly current: Int32Array
  readonly partners: Int32Array
}

/** Pairs equal lines at both ends of a region, and returns the rest. */
export function pairEqualEnds(region: DiffRegion, { old, current, partners }: LinePairing): DiffRegion {
  let { oldFrom, oldTo, newFrom, newTo } = region
  while (oldFrom < oldTo && newFrom < newTo && old[oldFrom] === current[newFrom])
    partners[oldFrom++] = newFrom++
  while (oldFrom < oldTo && newFrom < newTo && old[oldTo - 1] === current[newTo - 1])
    partners[--oldTo] = --newTo
  return { oldFrom, oldTo, newFrom, newTo }
}

/** Reports whether one side is empty. */
export function isOneSided({ oldFrom, oldTo, newFrom, newTo }: DiffRegion): boolean {
  return oldFrom === oldTo || newFrom === newTo
}
