import { type DiffRegion, isOneSided, type LinePairing } from './diff-region.ts'
import { LineCounts } from './line-counts.ts'

/** Lines that occur once on each side of a region, and therefore match. */
export class Anchors {
  readonly counts: LineCounts

  constructor(distinctLines: number) {
    this.counts = new LineCounts(distinctLines)
  }

  /** Pairs the anchors of a region, and returns the regions between them; null if it has none. */
  splitRegion(region: DiffRegion, pairing: LinePairing): DiffRegion[] | null {
    const unique = this.counts.withCounts(region, pairing, () => this.#listUniquePairs(region, pairing))
    if (unique.length === 0) return null
    const parts: DiffRegion[] = []
    let [oldFrom, newFrom] = [region.oldFrom, region.newFrom]
    const endPart = (oldTo: number, newTo: number) => {
      const part = { oldFrom, oldTo, newFrom, newTo }
      if (!isOneSided(part)) parts.push(part)
    }
    for (const { oldAt, newAt } of findLongestIncreasing(unique)) {
      pairing.partners[oldAt] = newAt
      endPart(oldAt, newAt)
      oldFrom = oldAt + 1
      newFrom = newAt + 1
    }
    endPart(region.oldTo, region.newTo)
    return parts
  }

  #listUniquePairs({ oldFrom, oldTo }: DiffRegion, { old }: LinePairing): LinePair[] {
    const { inOld, inNew, newPlaces } = this.counts
    const pairs: LinePair[] = []
    for (let oldAt = oldFrom; oldAt < oldTo; oldAt++) {
      const line = old[oldAt] ?? -1
      if (inOld[line] === 1 && inNew[line] === 1) pairs.push({ oldAt, newAt: newPlaces[line] ?? -1 })
    }
    return pairs
  }
}

interface LinePair {
  readonly oldAt: number
  readonly newAt: number
}

/** Returns the longest increasing subsequence of pairs, sorted on both sides. */
function findLongestIncreasing(pairs: readonly LinePair[]): LinePair[] {
  interface Link extends LinePair {
    readonly before: Link | undefined
  }
  const tops: Link[] = []
  for (const { oldAt, newAt } of pairs) {
    let [low, high] = [0, tops.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((tops[middle]?.newAt ?? 0) < newAt) low = middle + 1
      else high = middle
    }
    tops[low] = { oldAt, newAt, before: tops[low - 1] }
  }
  const rise: LinePair[] = []
  for (let link = tops.at(-1); link !== undefined; link = link.before) rise.push(link)
  return rise.reverse()
}
