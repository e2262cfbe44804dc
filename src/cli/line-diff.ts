import { diffIndices } from 'node-diff3'

/** Two stretches without a line to hold on to are compared line by line up to this many pairs, and replaced beyond. */
const MAX_PAIRS = 250_000

/** Lines of the old text that gave way to lines of the new one. Starts count from 0. */
export interface LineChange {
  readonly oldStart: number
  readonly oldLines: readonly string[]
  readonly newStart: number
  readonly newLines: readonly string[]
}

/**
 * What changed from one list of lines to another, in order. Lines that are unique on both sides hold the two together
 * (patience diff), so that it takes time in proportion to the lines, however often one is repeated.
 */
export function diffLines(old: readonly string[], now: readonly string[]): LineChange[] {
  const pending: Stretch[] = [{ old, now, oldStart: 0, newStart: 0 }]
  const changes: LineChange[] = []
  for (let stretch = pending.pop(); stretch !== undefined; stretch = pending.pop()) {
    const differing = trimmed(stretch)
    const anchors = anchorsOf(differing)
    if (anchors.length > 0) pending.push(...between(differing, anchors).reverse())
    else changes.push(...compared(differing))
  }
  return changes
}

/** Lines of both sides that stand opposite each other, and where they begin. */
interface Stretch {
  readonly old: readonly string[]
  readonly now: readonly string[]
  readonly oldStart: number
  readonly newStart: number
}

function trimmed({ old, now, oldStart, newStart }: Stretch): Stretch {
  const most = Math.min(old.length, now.length)
  let head = 0
  while (head < most && old[head] === now[head]) head++
  let tail = 0
  while (tail < most - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  return {
    old: old.slice(head, old.length - tail),
    now: now.slice(head, now.length - tail),
    oldStart: oldStart + head,
    newStart: newStart + head,
  }
}

interface Anchor {
  readonly oldAt: number
  readonly newAt: number
}

/** Lines that are there once on each side: as many of them as keep the same order. */
function anchorsOf({ old, now }: Stretch): Anchor[] {
  const [oldPlaces, newPlaces] = [placesOf(old), placesOf(now)]
  const pairs: Anchor[] = []
  for (const [line, oldAt] of oldPlaces) {
    const newAt = newPlaces.get(line)
    if (oldAt !== 'several' && newAt !== undefined && newAt !== 'several') pairs.push({ oldAt, newAt })
  }
  return longestRise(pairs)
}

function placesOf(lines: readonly string[]): Map<string, number | 'several'> {
  const places = new Map<string, number | 'several'>()
  for (const [at, line] of lines.entries()) places.set(line, places.has(line) ? 'several' : at)
  return places
}

/** The longest choice of pairs, which are in the order of the old side, that is in the order of the new one too. */
function longestRise(pairs: readonly Anchor[]): Anchor[] {
  interface Link extends Anchor {
    readonly before: Link | undefined
  }
  const tops: Link[] = []
  for (const pair of pairs) {
    let [low, high] = [0, tops.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((tops[middle]?.newAt ?? 0) < pair.newAt) low = middle + 1
      else high = middle
    }
    tops[low] = { ...pair, before: tops[low - 1] }
  }
  const rise: Anchor[] = []
  for (let link = tops.at(-1); link !== undefined; link = link.before) rise.push(link)
  return rise.reverse()
}

/** What lies before, between and behind the anchors. */
function between({ old, now, oldStart, newStart }: Stretch, anchors: readonly Anchor[]): Stretch[] {
  const ends = [...anchors, { oldAt: old.length, newAt: now.length }]
  return ends.map((end, index) => {
    const last = anchors[index - 1]
    const [oldFrom, newFrom] = last === undefined ? [0, 0] : [last.oldAt + 1, last.newAt + 1]
    return {
      old: old.slice(oldFrom, end.oldAt),
      now: now.slice(newFrom, end.newAt),
      oldStart: oldStart + oldFrom,
      newStart: newStart + newFrom,
    }
  })
}

/** A stretch without anchors, line by line if it is short enough. */
function compared({ old, now, oldStart, newStart }: Stretch): LineChange[] {
  if (old.length === 0 && now.length === 0) return []
  const isWhole = old.length === 0 || now.length === 0 || old.length * now.length > MAX_PAIRS
  if (isWhole) return [{ oldStart, oldLines: old, newStart, newLines: now }]
  const numbers = new Map<string, number>()
  // As numbers: the package keeps lines as keys of a plain object, where `constructor` would mean something.
  const numbered = (lines: readonly string[]) =>
    lines.map((line) => {
      const number = numbers.get(line) ?? numbers.size
      numbers.set(line, number)
      return number
    })
  return diffIndices(numbered(old), numbered(now)).map(({ buffer1, buffer2 }) => ({
    oldStart: oldStart + buffer1[0],
    oldLines: old.slice(buffer1[0], buffer1[0] + buffer1[1]),
    newStart: newStart + buffer2[0],
    newLines: now.slice(buffer2[0], buffer2[0] + buffer2[1]),
  }))
}
