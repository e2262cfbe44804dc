import type { DiffRegion, LinePairing } from './diff-region.ts'

/** A position that splits a region in two. */
export interface SplitPoint {
  readonly oldAt: number
  readonly newAt: number
}

/**
 * The furthest positions reachable from one end of a region with a number of edits (Myers). A diagonal is the number
 * of old lines minus new lines consumed; each stores the most old lines consumed.
 */
export class MyersFrontier {
  readonly #pairing: LinePairing
  /** 1 for forward, -1 for backward. */
  readonly #step: 1 | -1
  readonly #reached: Int32Array
  readonly #middle: number
  #oldStart = 0
  #newStart = 0
  #oldCount = 0
  #newCount = 0
  #edits = -1
  /** Number of outermost diagonals, on each side, that leave the region. */
  #outBelow = 0
  #outAbove = 0

  constructor(pairing: LinePairing, step: 1 | -1, maxEdits: number) {
    this.#pairing = pairing
    this.#step = step
    this.#middle = maxEdits + 1
    this.#reached = new Int32Array(2 * maxEdits + 3)
  }

  reset({ oldFrom, oldTo, newFrom, newTo }: DiffRegion): void {
    this.#oldStart = this.#step === 1 ? oldFrom : oldTo - 1
    this.#newStart = this.#step === 1 ? newFrom : newTo - 1
    this.#oldCount = oldTo - oldFrom
    this.#newCount = newTo - newFrom
    this.#edits = -1
    this.#outBelow = 0
    this.#outAbove = 0
    // The first step is a virtual insertion that leads to the start.
    this.#reached[this.#middle + 1] = 0
  }

  /**
   * Advances by one edit: each diagonal continues from the better of its neighbours, then along equal lines. Returns
   * the position where it meets the other frontier, if it does.
   */
  advance(other: MyersFrontier | null): SplitPoint | undefined {
    const edits = ++this.#edits
    const [reached, middle] = [this.#reached, this.#middle]
    if (edits > 0) {
      reached[middle - edits - 1] = -1
      reached[middle + edits + 1] = -1
    }
    for (let diagonal = this.#outBelow - edits; diagonal <= edits - this.#outAbove; diagonal += 2) {
      const below = reached[middle + diagonal - 1] ?? -1
      const above = reached[middle + diagonal + 1] ?? -1
      const isInsertion = diagonal === -edits || (diagonal !== edits && below < above)
      const oldBehind = this.#followSnake(isInsertion ? above : below + 1, diagonal)
      reached[middle + diagonal] = oldBehind
      if (oldBehind > this.#oldCount) this.#outAbove += 2
      else if (oldBehind - diagonal > this.#newCount) this.#outBelow += 2
      else if (other?.hasPassed(diagonal, oldBehind)) return this.#toSplitPoint(diagonal, oldBehind)
    }
    return undefined
  }

  /** Returns the position with the most lines consumed, and their number. */
  findFurthest(): { readonly point: SplitPoint; readonly behind: number } {
    let [best, bestBehind] = [0, -1]
    for (let diagonal = -this.#edits; diagonal <= this.#edits; diagonal += 2) {
      const oldBehind = this.#reached[this.#middle + diagonal] ?? -1
      const newBehind = oldBehind - diagonal
      if (oldBehind > this.#oldCount || newBehind > this.#newCount) continue
      if (oldBehind + newBehind <= bestBehind) continue
      best = diagonal
      bestBehind = oldBehind + newBehind
    }
    return { point: this.#toSplitPoint(best, this.#reached[this.#middle + best] ?? 0), behind: bestBehind }
  }

  /** Reports whether this frontier and the opposite one meet on a diagonal. */
  hasPassed(otherDiagonal: number, otherBehind: number): boolean {
    const diagonal = this.#oldCount - this.#newCount - otherDiagonal
    if (Math.abs(diagonal) > this.#edits) return false
    return (this.#reached[this.#middle + diagonal] ?? -1) + otherBehind >= this.#oldCount
  }

  /** Follows equal lines on a diagonal; returns the number of old lines consumed. */
  #followSnake(oldFrom: number, diagonal: number): number {
    const { old, current } = this.#pairing
    const most = Math.min(this.#oldCount, this.#newCount + diagonal)
    const [step, oldStart] = [this.#step, this.#oldStart]
    const newStart = this.#newStart - step * diagonal
    let consumed = oldFrom
    while (consumed < most && old[oldStart + step * consumed] === current[newStart + step * consumed])
      consumed++
    return consumed
  }

  #toSplitPoint(diagonal: number, oldBehind: number): SplitPoint {
    const newBehind = oldBehind - diagonal
    if (this.#step === 1) return { oldAt: this.#oldStart + oldBehind, newAt: this.#newStart + newBehind }
    return { oldAt: this.#oldStart + 1 - oldBehind, newAt: this.#newStart + 1 - newBehind }
  }
}
