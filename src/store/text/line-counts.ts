import type { DiffRegion, LinePairing } from './diff-region.ts'

/** Occurrences of each line in a region, on each side. Reusable: a region costs only its own lines. */
export class LineCounts {
  readonly inOld: Int32Array
  readonly inNew: Int32Array
  /** Last index of each line on the new side; valid for lines that occur there. */
  readonly newPlaces: Int32Array

  constructor(distinctLines: number) {
    this.inOld = new Int32Array(distinctLines)
    this.inNew = new Int32Array(distinctLines)
    this.newPlaces = new Int32Array(distinctLines)
  }

  /** Counts the lines of a region while `use` runs. */
  withCounts<T>(region: DiffRegion, pairing: LinePairing, use: () => T): T {
    const old = pairing.old.subarray(region.oldFrom, region.oldTo)
    const current = pairing.current.subarray(region.newFrom, region.newTo)
    for (const line of old) this.inOld[line] = (this.inOld[line] ?? 0) + 1
    for (const [index, line] of current.entries()) {
      this.inNew[line] = (this.inNew[line] ?? 0) + 1
      this.newPlaces[line] = region.newFrom + index
    }
    const result = use()
    for (const line of old) this.inOld[line] = 0
    for (const line of current) this.inNew[line] = 0
    return result
  }
}
