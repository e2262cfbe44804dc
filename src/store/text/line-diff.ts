import { Anchors } from './anchors.ts'
import { type DiffRegion, isOneSided, type LinePairing, pairEqualEnds } from './diff-region.ts'
import { numberLines } from './number-lines.ts'
import { alignSharedLines } from './shared-lines.ts'

/**
 * Limit of rounds that split regions at unique lines. Each round passes over all lines; only texts in which lines
 * become unique one after another need more than a few.
 */
const MAX_ROUNDS = 12

/** Old lines replaced by new lines. Starts count from 0. */
export interface LineChange {
  readonly oldStart: number
  readonly oldLines: readonly string[]
  readonly newStart: number
  readonly newLines: readonly string[]
}

/**
 * Lists the changes from one list of lines to another, in order. Lines unique on both sides are anchors (patience
 * diff); a bounded shortest edit script compares the regions between them.
 */
export function diffLines(old: readonly string[], current: readonly string[]): LineChange[] {
  const { sides, distinctLines } = numberLines(old, current)
  const pairing: LinePairing = { ...sides, partners: new Int32Array(old.length).fill(-1) }
  const anchors = new Anchors(distinctLines)
  let regions: DiffRegion[] = [{ oldFrom: 0, oldTo: old.length, newFrom: 0, newTo: current.length }]
  for (let round = 0; round < MAX_ROUNDS && regions.length > 0; round++) {
    const nextRegions: DiffRegion[] = []
    for (const region of regions) {
      const differing = pairEqualEnds(region, pairing)
      if (isOneSided(differing)) continue
      const parts = anchors.splitRegion(differing, pairing)
      if (parts === null) alignSharedLines(differing, pairing, anchors.counts)
      else for (const part of parts) nextRegions.push(part)
    }
    regions = nextRegions
  }
  for (const region of regions) alignSharedLines(region, pairing, anchors.counts)
  return collectChanges(old, current, pairing.partners)
}

/** Converts each gap between matched lines to one change. */
function collectChanges(
  old: readonly string[],
  current: readonly string[],
  partners: Int32Array,
): LineChange[] {
  const changes: LineChange[] = []
  let [oldStart, newStart] = [0, 0]
  for (let oldAt = 0; oldAt <= old.length; oldAt++) {
    const newAt = oldAt === old.length ? current.length : (partners[oldAt] ?? -1)
    if (newAt < 0) continue
    if (oldAt > oldStart || newAt > newStart) {
      const [oldLines, newLines] = [old.slice(oldStart, oldAt), current.slice(newStart, newAt)]
      changes.push({ oldStart, oldLines, newStart, newLines })
    }
    oldStart = oldAt + 1
    newStart = newAt + 1
  }
  return changes
}
