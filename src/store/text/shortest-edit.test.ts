import fc from 'fast-check'
import { expect, it } from 'vitest'
import { alignByShortestEdit } from './shortest-edit.ts'

const list = fc.array(fc.nat({ max: 3 }), { maxLength: 40 }).map((lines) => Int32Array.from(lines))

it('pairs as many lines as can be paired', () => {
  fc.assert(
    fc.property(list, list, (old, now) => {
      expect(pairsIn(old, now, alignByShortestEdit(old, now, 100))).toBe(mostPairs(old, now))
    }),
    { numRuns: 2000 },
  )
})

it('pairs equal lines in order, also if it has to give up early', () => {
  fc.assert(
    fc.property(list, list, fc.integer({ min: 1, max: 4 }), (old, now, maxEdits) => {
      expect(pairsIn(old, now, alignByShortestEdit(old, now, maxEdits))).toBeLessThanOrEqual(
        mostPairs(old, now),
      )
    }),
    { numRuns: 2000 },
  )
})

/** The number of pairs, each of them held against the lists. */
function pairsIn(old: Int32Array, now: Int32Array, partners: Int32Array): number {
  const pairs = [...partners.entries()].filter(([, newAt]) => newAt >= 0)
  expect(pairs.map(([oldAt]) => old[oldAt])).toEqual(pairs.map(([, newAt]) => now[newAt]))
  for (const [index, [, newAt]] of pairs.entries()) expect(newAt).toBeGreaterThan(pairs[index - 1]?.[1] ?? -1)
  return pairs.length
}

/** The length of the longest common subsequence, by the table of all beginnings. */
function mostPairs(old: Int32Array, now: Int32Array): number {
  let above = new Array<number>(now.length + 1).fill(0)
  for (const line of old) {
    const row = [0]
    for (const [at, other] of now.entries()) {
      const [diagonal, up, left] = [above[at] ?? 0, above[at + 1] ?? 0, row[at] ?? 0]
      row.push(line === other ? diagonal + 1 : Math.max(up, left))
    }
    above = row
  }
  return above[now.length] ?? 0
}
