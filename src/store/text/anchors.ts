import { LineCounts } from './line-counts.ts'
import { isOneSided, type Pairing, type Stretch } from './stretch.ts'

/** Lines that are there once on each side of a stretch, and so belong together. */
export class Anchors {
  readonly counts: LineCounts

  constructor(kinds: number) {
    this.counts = new LineCounts(kinds)
  }

  /** Pairs the anchors of a stretch, and answers what lies between them; null if it has none. */
  cut(stretch: Stretch, pairing: Pairing): Stretch[] | null {
    const unique = this.counts.during(stretch, pairing, () => this.#uniqueIn(stretch, pairing))
    if (unique.length === 0) return null
    const parts: Stretch[] = []
    let [oldFrom, newFrom] = [stretch.oldFrom, stretch.newFrom]
    const endPart = (oldTo: number, newTo: number) => {
      const part = { oldFrom, oldTo, newFrom, newTo }
      if (!isOneSided(part)) parts.push(part)
    }
    for (const { oldAt, newAt } of longestRise(unique)) {
      pairing.partners[oldAt] = newAt
      endPart(oldAt, newAt)
      oldFrom = oldAt + 1
      newFrom = newAt + 1
    }
    endPart(stretch.oldTo, stretch.newTo)
    return parts
  }

  #uniqueIn({ oldFrom, oldTo }: Stretch, { old }: Pairing): Pair[] {
    const { inOld, inNew, newPlaces } = this.counts
    const pairs: Pair[] = []
    for (let oldAt = oldFrom; oldAt < oldTo; oldAt++) {
      const line = old[oldAt] ?? -1
      if (inOld[line] === 1 && inNew[line] === 1) pairs.push({ oldAt, newAt: newPlaces[line] ?? -1 })
    }
    return pairs
  }
}

interface Pair {
  readonly oldAt: number
  readonly newAt: number
}

/** The longest choice of pairs, which are in the order of the old side, that is in the order of the new one too. */
function longestRise(pairs: readonly Pair[]): Pair[] {
  interface Link extends Pair {
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
  const rise: Pair[] = []
  for (let link = tops.at(-1); link !== undefined; link = link.before) rise.push(link)
  return rise.reverse()
}
